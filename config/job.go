package config

import "time"

// Job is a job file: what to load, and where.
type Job struct {
	// Name of the job: ASCII letters, digits, '.', '_', '-', at most 64, first a letter or digit.
	Name JobName `yaml:"job" required:"true"`
	// What is read.
	Source JobSource `yaml:"source" required:"true"`
	// What tells one load of this job from another.
	BusinessKey BusinessKey `yaml:"business_key" default:"date"`
	// Time zone in which dates begin, by its IANA name; absent, defaults.timezone.
	Timezone Zone `yaml:"timezone"`
	// How the rows are divided into partitions.
	Split Split `yaml:"split"`
	// What is replaced.
	Target Target `yaml:"target" required:"true"`
	// Columns whose sums and extremes are compared: default (the split column and decimals), all, or a list.
	Metrics Metrics `yaml:"metrics" default:"default"`
	// Whether a date with no rows is a success; else it fails.
	AllowEmpty bool `yaml:"allow_empty" default:"false"`
	// Column types of the target that differ from the usual mapping, by source column.
	Types map[string]TypeName `yaml:"types"`
	// How chunks are cut; absent, defaults.chunk.
	Chunk Chunk `yaml:"chunk"`
	// How partitions are read; absent, defaults.extract.
	Extract Extract `yaml:"extract"`
	// Optimizer hint for the extract statements, without its comment signs.
	Hint Hint `yaml:"hint"`
	// ALTER SESSION statements for each session of this job, after those of the source.
	SessionInit []SessionStatement `yaml:"session_init"`
	// Longest life of a run; absent, defaults.run_timeout.
	RunTimeout time.Duration `yaml:"run_timeout" min:"1m" max:"30d"`
}

// JobSource says what a job reads.
type JobSource struct {
	// One of the sources of the daemon file.
	Name string `yaml:"name" required:"true"`
	// Table or schema.table. A name is upper-cased unless in double quotes; without a schema, the login's own.
	Table TableName `yaml:"table" required:"true"`
	// all, or a list of columns in the order wanted.
	Columns Columns `yaml:"columns" default:"all"`
	// Condition on the rows: an expression, in which :date is the business date and :key its text.
	Where Expression `yaml:"where"`
}

// Split says how rows are divided.
type Split struct {
	// single: one partition; range: slices of equal width of a number, date or timestamp column.
	Strategy SplitStrategy `yaml:"strategy" default:"single"`
	// Column that range divides by.
	Column Identifier `yaml:"column"`
	// Number of slices of range; rows with NULL in the column are one more.
	Partitions int `yaml:"partitions" default:"8" min:"1" max:"1024"`
}

// Target says what a job replaces.
type Target struct {
	// database.table, in any case.
	Table TargetTable `yaml:"table" required:"true"`
	// Partition columns in the table's order, each with its value, as in load_date: "{date}".
	Partition PartitionTemplate `yaml:"partition"`
	// Whether a missing table is made.
	Create Create `yaml:"create" default:"if_missing"`
	// How the target's rows are replaced.
	Mode PublishMode `yaml:"mode" default:"insert_overwrite"`
}

// Chunk bounds one file.
type Chunk struct {
	// Most rows of a file.
	MaxRows int `yaml:"max_rows" default:"5000000" min:"1" max:"1000000000"`
	// Size at which a file is closed.
	TargetBytes Size `yaml:"target_bytes" default:"128MiB" min:"64KiB" max:"16GiB"`
}

// Extract says how partitions are read.
type Extract struct {
	// Most partitions of a run read at once; never above the source's max_sessions.
	Workers int `yaml:"workers" default:"4" min:"1" max:"256"`
	// Longest time from sending a query to its first answer.
	QueryTimeout time.Duration `yaml:"query_timeout" default:"6h" min:"1s" max:"7d"`
	// Longest time without a row.
	StallTimeout time.Duration `yaml:"stall_timeout" default:"10m" min:"1s" max:"24h"`
	// Attempts of a partition before its run fails.
	MaxAttempts int `yaml:"max_attempts" default:"3" min:"1" max:"20"`
}
