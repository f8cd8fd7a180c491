package pipeline

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
)

// JobVersion is the version of the JSON form of Job. A process refuses a run with a newer one.
const JobVersion = 1

// Job is a resolved job for one business key: everything that the steps of a run need to know, with every
// default filled in and every template rendered. It is stored with the run at submit, and steps read only
// that; a job file edited in mid-run, or differing between hosts, changes nothing. It holds no secrets: Source
// names a connection of the process's own configuration.
type Job struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Key     string `json:"key"` // the business key, nearly always a date

	Source     string            `json:"source"`
	Selection  extract.Selection `json:"selection"`
	Where      string            `json:"where,omitempty"`
	Hint       string            `json:"hint,omitempty"`
	Split      Split             `json:"split"`
	Metrics    string            `json:"metrics"` // "default", "all" or "list"
	MetricCols []string          `json:"metric_columns,omitempty"`

	Target     publish.Target `json:"target"` // without Columns: the plan fills them in
	TargetID   string         `json:"target_id"`
	Create     bool           `json:"create"` // make the target table if it is missing
	StagingDB  string         `json:"staging_database"`
	AllowEmpty bool           `json:"allow_empty"`

	ChunkRows    int64    `json:"chunk_max_rows"`
	ChunkBytes   int64    `json:"chunk_target_bytes"`
	Workers      int      `json:"workers"` // most partitions of the run read at once, over all processes
	FetchRows    int      `json:"fetch_rows"`
	SessionInit  []string `json:"session_init,omitempty"`
	QueryTimeout Duration `json:"query_timeout"`
	StallTimeout Duration `json:"stall_timeout"`
	MaxAttempts  int      `json:"max_attempts"`
	RunTimeout   Duration `json:"run_timeout"`
}

// Split says how to cut the table.
type Split struct {
	Strategy   string `json:"strategy"` // "range" or "single"
	Column     string `json:"column,omitempty"`
	Partitions int    `json:"partitions"`
}

// Duration is a time.Duration whose JSON form is text ("1h30m").
type Duration time.Duration

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(p []byte) error {
	v, err := time.ParseDuration(string(p))
	*d = Duration(v)
	return err
}

// ParseJob reads the job that a run carries.
func ParseJob(p []byte) (*Job, error) {
	var j Job
	if err := json.Unmarshal(p, &j); err != nil {
		return nil, fmt.Errorf("read the run's job: %w", err)
	}
	if j.Version < 1 || j.Version > JobVersion {
		return nil, fmt.Errorf("read the run's job: form %d is newer than this program knows (%d): use the newer loadctl", j.Version, JobVersion)
	}
	return &j, nil
}

// session says how the run's sessions at the source are marked and limited.
func (j *Job) session(run string) extract.Session {
	return extract.Session{
		Action: j.Name + "/" + j.Key, Client: run, Init: j.SessionInit, FetchRows: j.FetchRows,
		QueryTimeout: time.Duration(j.QueryTimeout), StallTimeout: time.Duration(j.StallTimeout),
	}
}
