package wire

import (
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

// Job is a resolved job in the form that a run carries.
func Job(r config.Resolved, cfg *config.Config) *pipeline.Job {
	return &pipeline.Job{
		Version: pipeline.JobVersion, Name: r.Job, Key: r.Key,
		Source: r.Source, Where: r.Where, Hint: r.Hint,
		Selection: extract.Selection{Table: extract.TableName{Schema: r.Schema, Name: r.Table}, Columns: r.Columns, Types: r.Types},
		Split:     pipeline.Split{Strategy: string(r.Strategy), Column: r.SplitColumn, Partitions: r.Partitions},
		Metrics:   string(r.Metrics), MetricCols: r.MetricNames,
		Target:   publish.Target{Database: r.Database, Table: r.TargetTable, Partition: partition(r.Partition)},
		TargetID: r.TargetID, Create: r.Create == config.CreateIfMissing, StagingDB: stagingDatabase(cfg.Daemon.Warehouse),
		AllowEmpty: r.AllowEmpty, ChunkRows: int64(r.MaxRows), ChunkBytes: r.TargetBytes, Workers: r.Workers,
		SessionInit: r.SessionInit, QueryTimeout: pipeline.Duration(r.QueryTimeout), StallTimeout: pipeline.Duration(r.StallTimeout),
		MaxAttempts: r.MaxAttempts, RunTimeout: pipeline.Duration(r.RunTimeout),
	}
}

func partition(values []config.PartitionValue) []publish.PartitionValue {
	var out []publish.PartitionValue
	for _, v := range values {
		out = append(out, publish.PartitionValue{Column: v.Column, Value: v.Value})
	}
	return out
}

// stagingDatabase is where staging tables are. Directories need none.
func stagingDatabase(w config.Warehouse) string {
	if w.Hive != nil {
		return w.Hive.StagingDatabase
	}
	return ""
}
