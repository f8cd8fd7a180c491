package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodDaemon = `ledger: {host: db}
sources:
  core: {host: ora, service: svc, user: app, password: "${env:P}", max_sessions: 4}
store: {local: {root: /s}}
warehouse: {files: {root: /w}}
`

const goodJob = `job: A
source: {name: core, table: t}
target: {table: lake.a, partition: {load_date: "{date}"}}
`

// write puts files into a directory of their own: the daemon file loadd.yaml and jobs/NAME.
func write(t *testing.T, daemon string, jobs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "jobs"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("loadd.yaml", daemon)
	for name, text := range jobs {
		put(filepath.Join("jobs", name), text)
	}
	return filepath.Join(dir, "loadd.yaml")
}

// complaints are the faults of files, without their directory.
func complaints(t *testing.T, daemon string, jobs map[string]string) string {
	t.Helper()
	file := write(t, daemon, jobs)
	_, err := Load(file)
	if err == nil {
		return ""
	}
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error is %T, want Faults", err)
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(file)+string(filepath.Separator), "")
}

func mustLoad(t *testing.T, daemon string, jobs map[string]string) *Config {
	t.Helper()
	c, err := Load(write(t, daemon, jobs))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// jobComplaints are the faults of one job file.
func jobComplaints(t *testing.T, job string) string {
	t.Helper()
	return complaints(t, goodDaemon, map[string]string{"a.yaml": job})
}

func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("got\n%s\nwant\n%s", got, w)
	}
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	daemon := `ledger:
  host: db
  prot: 5433
  max_connections: 1000
  max_connections: 4
sources:
  core: {host: ora, service: svc, user: app, password: hunter2}
store: {local: {root: store}}
warehouse: {hive: {host: hs, user: u, auth: kerberos}}
recovery: {heartbeat: 30s, stale: 60s}
max_rows: 5
`
	job := `job: in/valid
source:
  name: cor
  table: a.b.c
  where: "D = :day; DROP TABLE t"
split: {strategy: rang, partitions: 0}
target:
  table: lake
  partition: {load_date: {date}}
chunk: {target_bytes: 128}
`
	wantLines(t, complaints(t, daemon, map[string]string{"a.yaml": job}),
		`jobs/a.yaml:1:1: job: "in/valid" is no name (ASCII letters, digits, '.', '_' and '-', at most 64, the first a letter or digit)`,
		`jobs/a.yaml:3:3: source.name: no source "cor" (did you mean core?)`,
		`jobs/a.yaml:4:3: source.table: "a.b.c" has 3 parts (write table or schema.table; a name with other characters than letters, digits, _, $ and # is written in double quotes, as in '"my.table"')`,
		`jobs/a.yaml:5:3: source.where: a ; at character 9: an expression is wanted, not statements`,
		`jobs/a.yaml:6:9: split.strategy: "rang" is not a word for this (did you mean range? one of: single, range)`,
		`jobs/a.yaml:6:25: split.partitions: 0 is out of range (from 1 to 1024)`,
		`jobs/a.yaml:8:3: target.table: "lake" does not name its database (write database.table)`,
		`jobs/a.yaml:9:15: target.partition.load_date: must be text, not settings below it (a value with braces is written in quotes, as in "{date}")`,
		`jobs/a.yaml:10:9: chunk.target_bytes: "128" has no unit (write a whole number with B, KiB, MiB, GiB or TiB, as in 128MiB)`,
		`loadd.yaml:3:3: ledger.prot: unknown setting (did you mean port?)`,
		`loadd.yaml:4:3: ledger.max_connections: 1000 is out of range (from 2 to 200)`,
		`loadd.yaml:5:3: ledger.max_connections: given twice (it is on line 4 too)`,
		`loadd.yaml:7:46: sources.core.password: a secret is written here, not a reference (write ${env:NAME} or ${file:/path}, and change the secret if this file was shared)`,
		`loadd.yaml:8:17: store.local.root: "store" is not an absolute path`,
		`loadd.yaml:9:39: warehouse.hive.auth: "kerberos" is not supported yet (use LDAP or CUSTOM)`,
		`loadd.yaml:10:28: recovery.stale: 1m is less than 4 times heartbeat (30s) (a few lost heartbeats must not look like a death)`,
		`loadd.yaml:11:1: max_rows: unknown setting (it belongs at defaults.chunk.max_rows)`,
	)
}

func TestDaemonFaults(t *testing.T) {
	const sources = "sources: {core: {host: o, service: s, user: u, password: \"${env:P}\"}}\n"
	const rest = "ledger: {host: db}\n" + sources
	for name, test := range map[string]struct{ text, want string }{
		"empty":            {"", "loadd.yaml: the file is empty"},
		"comments only":    {"# nothing\n", "loadd.yaml: the file is empty"},
		"two documents":    {"a: 1\n---\nb: 2\n", "loadd.yaml:2:1: the file holds more than one YAML document (one file a job; remove the ---)"},
		"a list":           {"- a\n", "loadd.yaml:1:1: must be settings below it, not a list"},
		"a word":           {"hello\n", "loadd.yaml:1:1: must be settings below it, not a single value"},
		"not UTF-8":        {"ledger:\n  host: \"\xe9t\xe9\"\n", "loadd.yaml:2:10: not UTF-8: byte 0xE9 (save the file as UTF-8)"},
		"UTF-16":           {"\xff\xfea\x00", "loadd.yaml:1:1: the file is UTF-16 (save the file as UTF-8)"},
		"NUL":              {"ledger: a\x00b\n", "loadd.yaml:1:10: control character 0x00"},
		"tab":              {"ledger:\n\thost: db\n", "loadd.yaml:2:1: a tab in the indentation (indent with spaces)"},
		"alias":            {"ledger: &a {host: db}\nstore: *a\n" + sources + "warehouse: {files: {root: /w}}\n", "loadd.yaml:1:1: ledger: YAML anchors, aliases and tags are not supported (write the value out)\nloadd.yaml:2:1: store: YAML anchors, aliases and tags are not supported (write the value out)"},
		"merge key":        {goodDaemon + "log:\n  <<: {level: info}\n", "loadd.yaml:7:3: log: merge keys are not supported (write the settings out)"},
		"nothing required": {"jobs: x\n", "loadd.yaml:1:1: ledger: is required\nloadd.yaml:1:1: sources: is required\nloadd.yaml:1:1: store: is required\nloadd.yaml:1:1: warehouse: is required"},
		"both stores":      {rest + "store: {local: {root: /a}, hdfs: {namenodes: [\"n:1\"], user: u, root: /r}}\nwarehouse: {files: {root: /w}}\n", "loadd.yaml:3:1: store: has both local and hdfs (keep one)"},
		"no store":         {rest + "store:\nwarehouse: {files: {root: /w}}\n", "loadd.yaml:3:1: store: needs local or hdfs"},
		"nested roots":     {rest + "store: {local: {root: /a/b/}}\nwarehouse: {files: {root: /a}}\n", "loadd.yaml:4:21: warehouse.files.root: /a and store.local.root /a/b are one inside the other (use two directories side by side)"},
		"files on hdfs":    {rest + "store: {hdfs: {namenodes: [\"n:1\"], user: u, root: /r}}\nwarehouse: {files: {root: /w}}\n", "loadd.yaml:4:13: warehouse.files: reads its staged files from a local store, not from HDFS (use store.local, or warehouse.hive)"},
		"two namenodes":    {rest + "store: {hdfs: {namenodes: [\"n:1\", n2, \"n:1\"], user: u, root: hdfs://x/r}}\nwarehouse: {hive: {host: h, user: u}}\n", "loadd.yaml:3:9: store.hdfs.nameservice: is required with more than one NameNode (the dfs.nameservices of the cluster)\nloadd.yaml:3:35: store.hdfs.namenodes[1]: \"n2\" is not host:port\nloadd.yaml:3:39: store.hdfs.namenodes[2]: n:1 is listed twice"},
		"hive":             {rest + "store: {local: {root: /s}}\nwarehouse: {hive: {host: h, user: u, auth: LDAP, transport: http, settings: {hive.query.tag: x}}}\n", "loadd.yaml:4:13: warehouse.hive.password: is required with auth: LDAP\nloadd.yaml:4:50: warehouse.hive.transport: \"http\" is not supported yet (use binary)\nloadd.yaml:4:78: warehouse.hive.settings.hive.query.tag: is set by loadctl itself (leave it out)"},
		"a reference":      {goodDaemon + "http: {listen: \"${env:LISTEN}\"}\n", "loadd.yaml:6:8: http.listen: a reference where none is read (only passwords are references; write the value)"},
		"no source":        {"ledger: {host: db}\nsources: {}\nstore: {local: {root: /s}}\nwarehouse: {files: {root: /w}}\n", "loadd.yaml:2:1: sources: names no source"},
		"host and service": {"ledger: {host: db}\nsources: {core: {host: \"o:1521\", service: (X=1), user: u, password: \"${env:P}\"}}\nstore: {local: {root: /s}}\nwarehouse: {files: {root: /w}}\n", "loadd.yaml:2:18: sources.core.host: \"o:1521\" is no host (the port is a setting of its own)\nloadd.yaml:2:34: sources.core.service: \"(X=1)\" is no service name (the name alone, as in lsnrctl services)"},
	} {
		t.Run(name, func(t *testing.T) {
			wantLines(t, complaints(t, test.text, nil), test.want)
		})
	}
}

func TestTextIsReadAsWritten(t *testing.T) {
	daemon := "\xef\xbb\xbf" + strings.ReplaceAll(goodDaemon, "\n", "\r\n")
	daemon = strings.Replace(daemon, "root: /s", "root: /s, mode: 0600", 1)
	daemon = strings.Replace(daemon, "host: db", "host: 010.10", 1)
	c := mustLoad(t, daemon, nil)
	if got := c.Daemon.Store.Local.Mode.String(); got != "0600" {
		t.Errorf("mode is %s, want 0600", got)
	}
	if got := c.Daemon.Ledger.Host; got != "010.10" {
		t.Errorf("host is %s, want 010.10", got)
	}
}

func TestSyntaxErrorShowsNoSecret(t *testing.T) {
	got := complaints(t, "ledger:\n  password: hunter2\n  host: [a\n  x: }\n", nil)
	if !strings.HasPrefix(got, "loadd.yaml:") || !strings.Contains(got, "not YAML") || strings.Contains(got, "hunter2") {
		t.Errorf("got %s", got)
	}
}

func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "loadd.yaml"))
	if err == nil || !strings.Contains(err.Error(), "read file: no such file or directory (check the path") {
		t.Errorf("got %v", err)
	}
	if _, err = Load(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	if _, err = LoadJob(filepath.Join(dir, "x.yaml"), nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	c := mustLoad(t, goodDaemon, nil)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), "no file matches jobs/*.yaml") {
		t.Errorf("warnings %v, want one about jobs", c.Warnings)
	}
}

func TestJobFaults(t *testing.T) {
	const target = "target: {table: lake.a, partition: {load_date: \"{date}\"}}\n"
	for name, test := range map[string]struct{ text, want string }{
		"range without column": {goodJob + "split: {strategy: range}\n", "jobs/a.yaml:4:1: split.column: is required with strategy: range (an indexed number, date or timestamp without gaps)"},
		"single with column":   {goodJob + "split: {column: A, partitions: 4}\n", "jobs/a.yaml:4:9: split.column: is not used with strategy: single (set strategy: range)"},
		"too many workers":     {goodJob + "extract: {workers: 5}\n", "jobs/a.yaml:4:11: extract.workers: 5 workers cannot have a session each: core has max_sessions 4"},
		"metric not read":      {"job: A\nsource: {name: core, table: t, columns: [A, b]}\nmetrics: [B, C]\n" + target, "jobs/a.yaml:3:14: metrics[1]: C is not in source.columns (add it there)"},
		"partition is read":    {"job: A\nsource: {name: core, table: t, columns: [A, LOAD_DATE]}\n" + target, "jobs/a.yaml:3:25: target.partition: load_date is a source column too (leave it out of source.columns, or name the partition column otherwise)"},
		"types":                {goodJob + "types:\n  A: string\n  a: string\n  b: decimal(40,2)\n  C: float\n  x y: string\n", "jobs/a.yaml:6:3: types.a: A has a type already\njobs/a.yaml:7:3: types.b: \"decimal(40,2)\" is out of range (precision 1 to 38, scale 0 to precision)\njobs/a.yaml:8:3: types.C: \"float\" is not a type that a column can be given (string or decimal(precision,scale))\njobs/a.yaml:9:3: types.x y: \"x y\" is no plain name because of ' ' (" + quoteAdvice + ")"},
		"not a bool":           {goodJob + "allow_empty: yes\n", "jobs/a.yaml:4:1: allow_empty: \"yes\" is neither true nor false"},
		"a float":              {goodJob + "extract: {workers: 1.5, max_attempts: 07}\n", "jobs/a.yaml:4:11: extract.workers: \"1.5\" is not a whole number\njobs/a.yaml:4:25: extract.max_attempts: \"07\" is not a whole number"},
		"an empty list":        {"job: A\nsource: {name: core, table: t, columns: []}\n" + target, "jobs/a.yaml:2:32: source.columns: an empty list (leave the key out)"},
		"no value":             {"job:\nsource: {name: core, table: t}\n" + target, "jobs/a.yaml:1:1: job: has no value (give it a value or leave the key out)"},
		"empty where":          {"job: A\nsource: {name: core, table: t, where: \" \"}\n" + target, "jobs/a.yaml:2:32: source.where: an empty condition (leave the key out to read every row)"},
	} {
		t.Run(name, func(t *testing.T) {
			wantLines(t, jobComplaints(t, test.text), test.want)
		})
	}
}

func TestJobGetsDefaultsOfTheDaemon(t *testing.T) {
	daemon := goodDaemon + "defaults: {timezone: Asia/Seoul, chunk: {max_rows: 7}, extract: {stall_timeout: 9s, max_attempts: 2}, run_timeout: 1h}\n"
	c := mustLoad(t, daemon, map[string]string{"a.yaml": goodJob + "extract: {stall_timeout: 10s}\n"})
	r, err := c.Resolve("A", date(t, "2026-01-02"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Timezone != "Asia/Seoul" || r.MaxRows != 7 || r.StallTimeout.Seconds() != 10 || r.MaxAttempts != 2 || r.RunTimeout.Hours() != 1 {
		t.Errorf("got %+v", r)
	}
	if r.TargetBytes != 128<<20 || r.Workers != 4 {
		t.Errorf("package defaults are lost: %+v", r)
	}
}

func TestWorkersNeverExceedSessions(t *testing.T) {
	daemon := strings.Replace(goodDaemon, "max_sessions: 4", "max_sessions: 2", 1)
	r, err := mustLoad(t, daemon, map[string]string{"a.yaml": goodJob}).Resolve("A", date(t, "2026-01-02"))
	if err != nil || r.Workers != 2 {
		t.Errorf("workers %d, %v, want 2", r.Workers, err)
	}
}

func TestUnknownJob(t *testing.T) {
	c := mustLoad(t, goodDaemon, map[string]string{"a.yaml": strings.Replace(goodJob, "job: A", "job: INSP_DTL", 1)})
	if _, err := c.Resolve("INSP_DLT", date(t, "2026-01-02")); err == nil || err.Error() != `no job "INSP_DLT" in jobs/*.yaml (did you mean INSP_DTL?)` {
		t.Errorf("got %v", err)
	}
	if _, err := c.Resolve("INSP_DTL", Date{}); err == nil || !strings.Contains(err.Error(), "needs a date") {
		t.Errorf("got %v", err)
	}
}

func TestWarnsOfDatesThatReplaceEachOther(t *testing.T) {
	job := "job: A\nsource: {name: core, table: t, where: D = :date}\ntarget: {table: lake.a}\n"
	c := mustLoad(t, goodDaemon, map[string]string{"a.yaml": job})
	if len(c.Warnings) != 1 || c.Warnings[0].Path != "target.partition" {
		t.Errorf("warnings %v, want one about target.partition", c.Warnings)
	}
}

func TestNamedJobFilesAreReadOnce(t *testing.T) {
	file := write(t, goodDaemon, map[string]string{"a.yaml": goodJob})
	c, err := Load(file, filepath.Join(filepath.Dir(file), "jobs", "..", "jobs", "a.yaml"))
	if err != nil || len(c.Jobs) != 1 {
		t.Errorf("got %v jobs, %v", c.JobNames(), err)
	}
}
