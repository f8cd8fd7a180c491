package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The tests of this file are named by the cases, real failures of tools of this kind, that they stand for.

// A wrong word is an error of the file that shows it and lists the right ones; nothing panics later.
func TestCase_CFG_03(t *testing.T) {
	daemon := strings.Replace(goodDaemon, "files: {root: /w}", "hive: {host: h, user: u, auth: Kerberos, transport: https}", 1)
	wantLines(t, complaints(t, daemon, nil),
		`loadd.yaml:5:38: warehouse.hive.auth: "Kerberos" is not supported yet (use LDAP or CUSTOM)`,
		`loadd.yaml:5:54: warehouse.hive.transport: "https" is not supported yet (use binary)`)
	daemon = strings.Replace(goodDaemon, "files: {root: /w}", "hive: {host: h, user: u, auth: nosasl}", 1)
	wantLines(t, complaints(t, daemon, nil),
		`loadd.yaml:5:38: warehouse.hive.auth: "nosasl" is not a word for this (did you mean NOSASL? one of: NONE, NOSASL, LDAP, CUSTOM)`)
}

// Zones come from the file, never from the host.
func TestCase_CFG_04(t *testing.T) {
	for _, zone := range []string{"Foo", "Local", "KST", "+09:00", "../../etc/passwd"} {
		got := jobComplaints(t, goodJob+"timezone: "+zone+"\n")
		if !strings.Contains(got, "jobs/a.yaml:4:1: timezone: ") || !strings.Contains(got, "as in Asia/Seoul or UTC") {
			t.Errorf("%s: got %q", zone, got)
		}
	}
	now := time.Date(2026, 9, 28, 16, 0, 0, 0, time.UTC)
	for _, tz := range []string{"", "Asia/Seoul", "Foo"} {
		t.Setenv("TZ", tz)
		c := mustLoad(t, goodDaemon, map[string]string{"a.yaml": goodJob + "timezone: Asia/Seoul\n"})
		d, err := ParseDate("yesterday", now, c.Jobs["A"].Timezone.Location())
		if err != nil || d.String() != "2026-09-28" {
			t.Errorf("TZ=%s: got %s, %v, want 2026-09-28", tz, d, err)
		}
	}
}

func TestCase_CFG_05(t *testing.T) {
	job := func(lines string) string { return goodJob + lines }
	for in, want := range map[string]string{
		job("split: {strategy: range, column: A, partitions: 0}\n"):      "split.partitions: 0 is out of range (from 1 to 1024)",
		job("split: {strategy: range, column: A, partitions: -1}\n"):     "split.partitions: -1 is out of range (from 1 to 1024)",
		job("split: {strategy: range, column: A, partitions: 100000}\n"): "split.partitions: 100000 is out of range (from 1 to 1024)",
		job("extract: {max_attempts: 0}\n"):                              "extract.max_attempts: 0 is out of range (from 1 to 20)",
		job("extract: {workers: 99999999999999999999}\n"):                "extract.workers: 99999999999999999999 is too large",
		job("extract: {workers: -4}\n"):                                  "extract.workers: -4 is out of range (from 1 to 256)",
		job("extract: {stall_timeout: 0s}\n"):                            "extract.stall_timeout: 0s is out of range (from 1s to 24h)",
		job("chunk: {max_rows: 0}\n"):                                    "chunk.max_rows: 0 is out of range (from 1 to 1000000000)",
		job("chunk: {target_bytes: 0B}\n"):                               "chunk.target_bytes: 0B is out of range (from 64KiB to 16GiB)",
		job("chunk: {target_bytes: -1MiB}\n"):                            `chunk.target_bytes: "-1MiB" is not a size`,
	} {
		if got := jobComplaints(t, in); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	wantLines(t, complaints(t, goodDaemon+"recovery: {step_lease: 5s, step_renew: 10s}\n", nil),
		"loadd.yaml:6:12: recovery.step_lease: 5s is less than 3 times step_renew (10s) (a slow renewal must not lose the step)")
}

// Two jobs with one target are refused however they write it, and so is one directory for two purposes.
func TestCase_CFG_06(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`{table: DB.T}`, `{table: db.t}`, true},
		{`{table: db.t}`, `{table: db.t2}`, false},
		{`{table: db.t}`, `{table: db.t, partition: {d: "{date}"}}`, true},
		{`{table: db.t, partition: {d: "{date}"}}`, `{table: db.T, partition: {D: "{date}"}}`, true},
		{`{table: db.t, partition: {d: "{date}", src: a}}`, `{table: db.t, partition: {src: b, d: "{date}"}}`, false},
		{`{table: db.t, partition: {d: "{date}", n: 01}}`, `{table: db.t, partition: {d: "{date}", n: 1}}`, true},
		{`{table: db.t, partition: {d: "{date}"}}`, `{table: db.t, partition: {d: "2026-09-28"}}`, true},
		{`{table: db.t, partition: {d: "{date}"}}`, `{table: db.t, partition: {d: history}}`, false},
		{`{table: db.t, partition: {d: "{date:yyyyMMdd}"}}`, `{table: db.t, partition: {d: "2026-09-28"}}`, false},
	} {
		job := func(name, target string) string {
			return "job: " + name + "\nsource: {name: core, table: t}\ntarget: " + target + "\n"
		}
		got := complaints(t, goodDaemon, map[string]string{"a.yaml": job("A", test.a), "b.yaml": job("B", test.b)})
		if !test.same {
			wantLines(t, got, "")
			continue
		}
		if !strings.HasPrefix(got, "jobs/b.yaml:3:10: target.table: ") || !strings.Contains(got, "is the target of job A too (jobs/a.yaml:1)") {
			t.Errorf("%s and %s: got %q", test.a, test.b, got)
		}
	}
}

func TestCase_CFG_06_StoreRoot(t *testing.T) {
	const format = "ledger: {host: db}\nsources: {core: {host: o, service: s, user: u, password: \"${env:P}\"}}\n" +
		"store: {hdfs: {namenodes: [\"n1:8020\", \"n2:8020\"], nameservice: ns, user: u, root: %q}}\nwarehouse: {hive: {host: h, user: u}}\n"
	for _, root := range []string{"hdfs://ns/a", "/a/", "/a", "hdfs:///a", "HDFS://NS/a/", "/x/../a", "//a", "hdfs://n2:8020/a"} {
		c := mustLoad(t, fmt.Sprintf(format, root), nil)
		if got := c.Daemon.Store.URI(); got != "hdfs://ns/a" {
			t.Errorf("%s: got %s, want hdfs://ns/a", root, got)
		}
	}
	for _, root := range []string{"hdfs://other/a", "a", "/", "s3://b/a", "hdfs://ns", "/.."} {
		if got := complaints(t, fmt.Sprintf(format, root), nil); !strings.HasPrefix(got, "loadd.yaml:3:77: store.hdfs.root: ") {
			t.Errorf("%s: got %q", root, got)
		}
	}
}

func TestJobsOfOneName(t *testing.T) {
	other := strings.Replace(strings.Replace(goodJob, "job: A", "job: a", 1), "lake.a", "lake.b", 1)
	wantLines(t, complaints(t, goodDaemon, map[string]string{"a.yaml": goodJob, "b.yaml": other}),
		"jobs/b.yaml:1:1: job: a is the job of jobs/a.yaml:1 too (names differ by more than case)")
}

func table(t *testing.T, text string) TableName {
	t.Helper()
	var n TableName
	if err := n.UnmarshalText([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// A plain name is upper-cased, a quoted one is exact, wherever a name is written.
func TestCase_IDQ_02(t *testing.T) {
	job := `job: A
source: {name: core, table: '"app"."order_tb"', columns: ['"id"', '"relationId"']}
split: {strategy: range, column: '"id"'}
metrics: ['"id"']
types: {'"relationId"': string}
target: {table: lake.a}
`
	r, err := mustLoad(t, goodDaemon, map[string]string{"a.yaml": job}).Resolve("A", date(t, "2026-01-02"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Schema != "app" || r.Table != "order_tb" || r.SplitColumn != "id" || r.Types["relationId"] != "string" ||
		!reflect.DeepEqual(r.Columns, []string{"id", "relationId"}) || !reflect.DeepEqual(r.MetricNames, []string{"id"}) {
		t.Errorf("got %+v", r)
	}
}

func TestCase_IDQ_03(t *testing.T) {
	job := "job: A\nsource: {name: core, table: k, columns: ['\"Id\"', ID, '\"id\"']}\ntarget: {table: lake.a}\n"
	wantLines(t, jobComplaints(t, job),
		`jobs/a.yaml:2:50: source.columns[1]: "Id" and ID are one column in Hive (leave one out, or give it another name in a view)`,
		`jobs/a.yaml:2:54: source.columns[2]: ID and "id" are one column in Hive (leave one out, or give it another name in a view)`)
}

// Names with any character are kept exactly; what needs quotes says so.
func TestCase_IDQ_04(t *testing.T) {
	long := strings.Repeat("금", 42) // 126 bytes
	for in, want := range map[string]string{
		`"주문$#"`: "주문$#", "주문$#": "주문$#", "A$B": "A$B", "c#": "C#", `"a b"`: "a b", `"x.y"`: "x.y", `"semi;colon"`: "semi;colon",
		"\"back`tick\"": "back`tick", long: long, strings.Repeat("a", 128): strings.Repeat("A", 128),
	} {
		var i Identifier
		if err := i.UnmarshalText([]byte(in)); err != nil || i.Name != want {
			t.Errorf("%s: got %s, %v, want %s", in, i.Name, err, want)
		}
	}
	for _, in := range []string{"a b", "x;y", "back`tick", "1st", "_x", "a-b", "a@b", "", `""`, `"a`, `a"`, `"a"b`, strings.Repeat("금", 43), "\"a\x01\""} {
		var i Identifier
		if err := i.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted as %s", in, i)
		}
	}
}

// Partition values keep their exact text: quoting is the warehouse's business.
func TestCase_IDQ_07(t *testing.T) {
	for _, value := range []string{"it's", `a\`, `\`, `x'); DROP TABLE t;--`, ";"} {
		text, err := json.Marshal(value) // a JSON string is a YAML string
		if err != nil {
			t.Fatal(err)
		}
		job := "job: A\nsource: {name: core, table: t}\ntarget: {table: lake.a, partition: {p: " + string(text) + "}}\n"
		r, err := mustLoad(t, goodDaemon, map[string]string{"a.yaml": job}).Resolve("A", date(t, "2026-01-02"))
		if err != nil || r.Partition[0].Value != value {
			t.Errorf("%s: got %+v, %v", value, r.Partition, err)
		}
	}
}

func TestCase_PSQ_011(t *testing.T) {
	for in, want := range map[string]TableName{
		`junk`:                            {"", "JUNK", false, false},
		`"Junk"`:                          {"", "Junk", false, true},
		`targusr.junk`:                    {"TARGUSR", "JUNK", false, false},
		`targusr."Junk"`:                  {"TARGUSR", "Junk", false, true},
		`"Targusr".junk`:                  {"Targusr", "JUNK", true, false},
		`"Targusr"."Junk"`:                {"Targusr", "Junk", true, true},
		`"targ.usr".junk`:                 {"targ.usr", "JUNK", true, false},
		`targusr."junk.tab.with.dots"`:    {"TARGUSR", "junk.tab.with.dots", false, true},
		`"targ.usr"."junk.tab.with.dots"`: {"targ.usr", "junk.tab.with.dots", true, true},
	} {
		got := table(t, in)
		if got != want {
			t.Errorf("%s: got %+v, want %+v", in, got, want)
		}
		if again := table(t, got.String()); again != want {
			t.Errorf("%s is written as %s", in, got)
		}
	}
	for _, in := range []string{`"junk`, `junk"`, `a."b`, `.junk`, `a.`, `a..b`, `a.b.c`, `""`, `a.""`, `"a"b`, `"a""b"`, ` a`, `a. b`, `a.b@link`} {
		var n TableName
		if err := n.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%s is accepted as %+v", in, n)
		}
	}
	r, err := mustLoad(t, goodDaemon, map[string]string{"a.yaml": strings.Replace(goodJob, "table: t}", "table: junk}", 1)}).Resolve("A", date(t, "2026-01-02"))
	if err != nil || r.Schema != "APP" || r.Table != "JUNK" {
		t.Errorf("got %s.%s, %v, want APP.JUNK", r.Schema, r.Table, err)
	}
}

// Table names of every kind are kept, and a job's name, which paths are made of, has none of their characters.
func TestCase_PSQ_010(t *testing.T) {
	keepsNames(t, `T5+_Pr#duct`, `TST_Pr OdUCT`)
	if got := table(t, "FOO$BAR").Name; got != "FOO$BAR" {
		t.Errorf("got %s", got)
	}
}

func TestCase_PDB_021(t *testing.T) {
	keepsNames(t, "my-table", "Q1! 表", "db/z50/06", "dbz//5006", "own_test'")
	for _, name := range []string{"dbz/5006", "a b", "../x", ".attempts", "_SUCCESS", "-x", "표", "a'b", "a%2f", strings.Repeat("a", 65), "A\n"} {
		var n JobName
		if err := n.UnmarshalText([]byte(name)); err == nil {
			t.Errorf("job name %q is accepted", name)
		}
	}
}

func TestCase_PDV_006(t *testing.T) { keepsNames(t, "PC-IDENTIFIER$_#", "COL@AT") }

func keepsNames(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if got := table(t, `"`+name+`"`).Name; got != name {
			t.Errorf("%s: got %s", name, got)
		}
		var plain TableName
		if err := plain.UnmarshalText([]byte(name)); err == nil {
			t.Errorf("%s is accepted without quotes", name)
		}
	}
}

// Three tables that differ by case are three tables, and need three targets.
func TestCase_PTR_026(t *testing.T) {
	jobs := map[string]string{}
	for name, text := range map[string]string{"a": "pc_case", "b": `'"pc_case"'`, "c": `'"Pc_Case"'`} {
		jobs[name+".yaml"] = "job: " + name + "\nsource: {name: core, table: " + text + "}\ntarget: {table: lake.pc_case}\n"
	}
	wantLines(t, complaints(t, goodDaemon, jobs),
		"jobs/b.yaml:3:10: target.table: lake.pc_case is the target of job a too (jobs/a.yaml:1) (give each job a table, or a partition with another fixed value)",
		"jobs/c.yaml:3:10: target.table: lake.pc_case is the target of job a too (jobs/a.yaml:1) (give each job a table, or a partition with another fixed value)")
	for name := range jobs {
		jobs[name] = strings.Replace(jobs[name], "lake.pc_case", "lake."+name[:1], 1)
	}
	c := mustLoad(t, goodDaemon, jobs)
	for name, want := range map[string]string{"a": "PC_CASE", "b": "pc_case", "c": "Pc_Case"} {
		if got := c.Jobs[name].Source.Table.Name; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A wrong word of any enumeration of either file is shown with every right one.
func TestCase_PSQ_023(t *testing.T) {
	checked := 0
	for _, root := range roots() {
		eachSetting(root, "", func(path string, s setting) {
			e, ok := reflect.Zero(s.field.Type).Interface().(enum)
			if !ok {
				return
			}
			checked++
			err := setText(reflect.New(s.field.Type).Elem(), "loremipsum")
			if err == nil {
				t.Errorf("%s accepts loremipsum", path)
				return
			}
			for _, word := range append(e.Words().Accepted, `"loremipsum"`) {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%s: %v does not show %s", path, err, word)
				}
			}
			for _, word := range e.Words().Later {
				if err := e.Words().check(word); err == nil || !strings.Contains(err.Error(), "not supported yet (use ") {
					t.Errorf("%s: %s: got %v", path, word, err)
				}
			}
		})
	}
	if checked < 8 {
		t.Errorf("only %d enumerations checked", checked)
	}
	wantLines(t, jobComplaints(t, goodJob+"split: {strategy: loremipsum}\n"),
		`jobs/a.yaml:4:9: split.strategy: "loremipsum" is not a word for this (one of: single, range)`)
	wantLines(t, jobComplaints(t, goodJob+"metrics: loremipsum\n"),
		`jobs/a.yaml:4:1: metrics: "loremipsum" is neither default, all nor a list (write default, all, or [A, B])`)
}

func TestCase_PSQ_024(t *testing.T) {
	for in, want := range map[string]Hint{"hint: FULL(t) PARALLEL(t, 4)": "FULL(t) PARALLEL(t, 4)", "hint: ' '": "", "hint:": "", `hint: "+ FULL(t)"`: "FULL(t)", "": ""} {
		c := mustLoad(t, goodDaemon, map[string]string{"a.yaml": goodJob + in + "\n"})
		if got := c.Jobs["A"].Hint; got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"'FULL(t) */ DROP'", "'/*+ FULL(t) */'", `"A\nB"`, "'A;B'", strings.Repeat("A", 1001)} {
		if got := jobComplaints(t, goodJob+"hint: "+in+"\n"); !strings.HasPrefix(got, "jobs/a.yaml:4:1: hint: ") {
			t.Errorf("%s: got %q", in, got)
		}
	}
	daemon := strings.Replace(goodDaemon, "max_sessions: 4", "session_init: [ALTER SESSION DISABLE PARALLEL QUERY]", 1)
	job := goodJob + "session_init: ['ALTER SESSION SET \"_serial_direct_read\" = never']\n"
	r, err := mustLoad(t, daemon, map[string]string{"a.yaml": job}).Resolve("A", date(t, "2026-01-02"))
	if want := []string{"ALTER SESSION DISABLE PARALLEL QUERY", `ALTER SESSION SET "_serial_direct_read" = never`}; err != nil || !reflect.DeepEqual(r.SessionInit, want) {
		t.Errorf("got %q, %v", r.SessionInit, err)
	}
	if got := jobComplaints(t, goodJob+"session_init: [ALTER SYSTEM FLUSH SHARED_POOL]\n"); !strings.Contains(got, "session_init[0]: only ALTER SESSION") {
		t.Errorf("got %q", got)
	}
}

// Users are folded as Oracle does, services are taken as written, and an unqualified table is the login's.
func TestCase_PDB_028(t *testing.T) {
	for user, want := range map[string]string{"app": "APP", `'"app"'`: "app", "C##App": "C##APP"} {
		daemon := strings.Replace(strings.Replace(goodDaemon, "user: app", "user: "+user, 1), "service: svc", "service: orclpdb1", 1)
		c := mustLoad(t, daemon, map[string]string{"a.yaml": goodJob})
		r, err := c.Resolve("A", date(t, "2026-01-02"))
		if err != nil || r.Schema != want || c.Daemon.Sources["core"].Service != "orclpdb1" {
			t.Errorf("%s: got schema %s, %v, want %s", user, r.Schema, err, want)
		}
	}
	got := jobComplaints(t, goodJob+"session_init: [ALTER SESSION SET CURRENT_SCHEMA = other]\n")
	if !strings.Contains(got, "write the schema in source.table") {
		t.Errorf("got %q", got)
	}
}
