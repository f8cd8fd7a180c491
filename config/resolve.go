package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Resolved is a job for one business date with nothing left to look up: what a run carries. It holds no secret
// and no connection; the source is named, and the identities recorded at plan time tell whether a connection
// leads to the same database.
type Resolved struct {
	Job      string `json:"job"`
	Key      string `json:"key"`      // the business date as 2026-09-28
	Timezone string `json:"timezone"` // in which the date began

	Source      string            `json:"source"` // name in the daemon file
	Schema      string            `json:"schema"` // exact; the login's own when the job names none
	Table       string            `json:"table"`  // exact
	Columns     []string          `json:"columns,omitempty"`
	Types       map[string]string `json:"types,omitempty"` // by exact column name
	Where       string            `json:"where,omitempty"` // placeholders filled in
	Hint        string            `json:"hint,omitempty"`
	SessionInit []string          `json:"session_init,omitempty"` // the source's, then the job's

	Strategy    SplitStrategy `json:"strategy"`
	SplitColumn string        `json:"split_column,omitempty"` // exact
	Partitions  int           `json:"partitions"`

	StoreRoot    string           `json:"store_root"` // a URI or an absolute path
	Warehouse    string           `json:"warehouse"`  // Warehouse.ID
	TargetID     string           `json:"target_id"`
	Database     string           `json:"database"`
	TargetTable  string           `json:"target_table"`
	Partition    []PartitionValue `json:"partition,omitempty"` // in the table's order
	Create       Create           `json:"create"`
	Mode         PublishMode      `json:"mode"`
	Metrics      MetricSet        `json:"metrics"`
	MetricNames  []string         `json:"metric_names,omitempty"` // exact, for MetricsList
	AllowEmpty   bool             `json:"allow_empty"`
	MaxRows      int              `json:"max_rows"`
	TargetBytes  int64            `json:"target_bytes"`
	Workers      int              `json:"workers"`       // never above the source's max_sessions
	QueryTimeout time.Duration    `json:"query_timeout"` // nanoseconds in JSON
	StallTimeout time.Duration    `json:"stall_timeout"`
	MaxAttempts  int              `json:"max_attempts"`
	RunTimeout   time.Duration    `json:"run_timeout"`
}

// Resolve fills a job in for a business date.
func (c *Config) Resolve(job string, date Date) (Resolved, error) {
	j, err := c.Job(job)
	if err != nil {
		return Resolved{}, err
	}
	if date.IsZero() {
		return Resolved{}, refuse("job %s needs a date", job).hint("write --date 2026-09-28, today or yesterday")
	}
	source, ok := c.Daemon.Sources[j.Source.Name]
	if !ok {
		return Resolved{}, fmt.Errorf("resolve job %s: no source %q", job, j.Source.Name)
	}
	r := j.resolve(date)
	r.Schema = j.Source.Table.Schema
	if r.Schema == "" {
		r.Schema = source.User.Name
	}
	r.SessionInit = statements(source.SessionInit, j.SessionInit)
	r.Workers = min(j.Extract.Workers, source.MaxSessions)
	r.StoreRoot = c.Daemon.Store.URI()
	r.Warehouse = c.Daemon.Warehouse.ID()
	r.TargetID = TargetID(r.Warehouse, j.Target.Table, r.Partition)
	return r, nil
}

// resolve is what the job file alone says.
func (j Job) resolve(date Date) Resolved {
	r := Resolved{
		Job: string(j.Name), Key: date.String(), Timezone: j.Timezone.Location().String(),
		Source: j.Source.Name, Table: j.Source.Table.Name, Columns: j.Source.Columns.Exact(),
		Where: j.Source.Where.Render(date), Hint: string(j.Hint),
		Strategy: j.Split.Strategy, SplitColumn: j.Split.Column.Name, Partitions: j.Split.Partitions,
		Database: j.Target.Table.Database, TargetTable: j.Target.Table.Table,
		Create: j.Target.Create, Mode: j.Target.Mode,
		Metrics: j.Metrics.Set, MetricNames: j.Metrics.Exact(), AllowEmpty: j.AllowEmpty,
		MaxRows: j.Chunk.MaxRows, TargetBytes: int64(j.Chunk.TargetBytes),
		MaxAttempts:  j.Extract.MaxAttempts,
		QueryTimeout: j.Extract.QueryTimeout, StallTimeout: j.Extract.StallTimeout, RunTimeout: j.RunTimeout,
	}
	for _, p := range j.Target.Partition {
		r.Partition = append(r.Partition, PartitionValue{p.Column, p.Value.Render(date)})
	}
	for column, t := range j.Types {
		if r.Types == nil {
			r.Types = map[string]string{}
		}
		r.Types[column] = string(t)
	}
	return r
}

func statements(lists ...[]SessionStatement) []string {
	var out []string
	for _, list := range lists {
		for _, s := range list {
			out = append(out, string(s))
		}
	}
	return out
}

// URI is the store's root as the warehouse would name it.
func (s Store) URI() string {
	if s.HDFS != nil {
		return "hdfs://" + s.HDFS.Authority() + s.HDFS.Root
	}
	if s.Local != nil {
		return s.Local.Root
	}
	return ""
}

// Digest identifies the content: SHA-256 of the JSON, in hex. Equal jobs have equal digests on every host.
func (r Resolved) Digest() (string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("digest job %s: %w", r.Job, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
