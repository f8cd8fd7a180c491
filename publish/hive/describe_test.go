package hive

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
)

// describeRows is DESCRIBE FORMATTED as Hive 4.0.1 prints it (less what is not read), before it the two rows
// that Hive 2 and 3 begin with.
const describeRows = `# col_name|data_type|comment
|NULL|NULL
seq|decimal(10,0)|
한글 $#|string|a comment
|NULL|NULL
# Partition Information|NULL|NULL
# col_name|data_type|comment
load_date|string|
|NULL|NULL
# Detailed Table Information|NULL|NULL
Database:           |dw                  |NULL
Location:           |hdfs://nn:8020/warehouse/dw.db/insp dtl|NULL
Table Type:         |EXTERNAL_TABLE      |NULL
Table Parameters:|NULL|NULL
|EXTERNAL            |TRUE
|transient_lastDdlTime|1796043903
|NULL|NULL
# Storage Information|NULL|NULL
SerDe Library:      |org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe|NULL
Storage Desc Params:|NULL|NULL
|serialization.format|1`

func described(t *testing.T, text string) description {
	t.Helper()
	var rows [][]hs2.Value
	for _, line := range strings.Split(text, "\n") {
		var row []hs2.Value
		for _, cell := range strings.Split(line, "|") {
			row = append(row, hs2.Value{Text: cell, Null: cell == "NULL"})
		}
		rows = append(rows, row)
	}
	d, err := parseDescription(rows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func describedTarget() publish.Target {
	return publish.Target{Database: "dw", Table: "insp_dtl",
		Partition: []publish.PartitionValue{{Column: "LOAD_DATE", Value: "2026-09-28"}},
		Columns: []stage.Column{
			{Name: "한글 $#", Source: "한글 $#", Type: extract.Type{Kind: extract.Text}},
			{Name: "seq", Source: "SEQ", Type: extract.Type{Kind: extract.Decimal, Precision: 10}}}}
}

func TestParseDescription(t *testing.T) {
	d := described(t, describeRows)
	if got, want := strings.Join(d.order(), ","), "seq,한글 $#"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if d.location != "hdfs://nn:8020/warehouse/dw.db/insp dtl" || d.kind != "EXTERNAL_TABLE" || d.serde != parquetSerDe {
		t.Errorf("location %q, kind %q, serde %q", d.location, d.kind, d.serde)
	}
	if got := d.parameters["transient_lastDdlTime"]; got != "1796043903" || len(d.parameters) != 2 {
		t.Errorf("parameters %v", d.parameters)
	}
	if diffs := d.differences(describedTarget()); diffs != nil {
		t.Errorf("differences %q, want none", diffs)
	}
}

func TestDifferencesNameEachFault(t *testing.T) {
	for _, tt := range []struct{ old, with, says string }{
		{"seq|decimal(10,0)", "seq|decimal(12,0)", `column "seq" is decimal(12,0), the plan has decimal(10,0)`},
		{"seq|decimal(10,0)", "seq|bigint", `column "seq" is bigint`},
		{"seq|decimal(10,0)|", "other|decimal(10,0)|", `column "seq" (decimal(10,0)) is missing; column "other" (decimal(10,0)) is not in the plan`},
		{"load_date|string", "dt|string", "it is partitioned by (dt), the plan by (load_date)"},
		{"load_date|string|", "load_date|string|\nregion|string|", "it is partitioned by (load_date, region)"},
		{"load_date|string", "load_date|int", `partition column "load_date" is int`},
		{"EXTERNAL_TABLE", "MANAGED_TABLE", "it is a managed table"},
		{"EXTERNAL_TABLE", "VIRTUAL_VIEW", "it is a virtual view"},
		{"|EXTERNAL            |TRUE", "|transactional|true", "ACID"},
		{"hdfs://nn:8020/warehouse", "s3a://bucket/warehouse", "it lies at s3a://bucket/warehouse/dw.db/insp dtl; only tables on HDFS"},
		{"org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "org.apache.hadoop.hive.ql.io.orc.OrcSerde", "OrcSerde; only Parquet"},
	} {
		d := described(t, strings.Replace(describeRows, tt.old, tt.with, 1))
		err := publish.SchemaError("dw", "insp_dtl", d.differences(describedTarget()))
		if !errors.Is(err, publish.ErrSchema) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "dw.insp_dtl") {
			t.Errorf("%s: error %v, want ErrSchema that says %s", tt.with, err, tt.says)
		}
	}
	date := described(t, strings.Replace(describeRows, "load_date|string", "load_date|date", 1))
	if diffs := date.differences(describedTarget()); diffs != nil {
		t.Errorf("partition column of type date: %q", diffs)
	}
}

func TestProvesUnchanged(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 10001, SQLState: "42S02"}, true},
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 19999}, true},
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 40000, SQLState: "42000"}, true},
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 40000, SQLState: "08S01"}, false},
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 20000}, false},
		{&hs2.Error{Phase: hs2.PhaseExecute, Code: 0}, false},
		{&hs2.Error{Phase: hs2.PhaseRun, Code: 40000, SQLState: "42000", Message: "Error while compiling statement"}, false},
		{hs2.ErrUnreachable, false},
		{nil, false},
	} {
		if got := provesUnchanged(tt.err); got != tt.want {
			t.Errorf("provesUnchanged(%v) = %t, want %t", tt.err, got, tt.want)
		}
	}
}

// tree is a Lister of directories.
type tree map[string][]stage.Info

func (l tree) List(_ context.Context, dir string) ([]stage.Info, error) {
	if _, ok := l[dir]; !ok {
		return nil, stage.ErrNotExist
	}
	return l[dir], nil
}

func TestListLeavesOutWhatHiveDoesNotRead(t *testing.T) {
	l := tree{
		"w/_x/p=a%2Fb": {{Path: "w/_x/p=a%2Fb/_SUCCESS"}, {Path: "w/_x/p=a%2Fb/000000_0", ID: 7, Size: 3},
			{Path: "w/_x/p=a%2Fb/.hive-staging_1", Dir: true}, {Path: "w/_x/p=a%2Fb/sub", Dir: true}},
		"w/_x/p=a%2Fb/sub": {{Path: "w/_x/p=a%2Fb/sub/b"}},
	}
	got, err := list(t.Context(), l, "hdfs://nn:8020/w/_x/p=a%2Fb/")
	if err != nil || len(got) != 2 || got[0].Path != "/w/_x/p=a%2Fb/000000_0" || got[0].ID != 7 || got[1].Path != "/w/_x/p=a%2Fb/sub/b" {
		t.Errorf("files %+v, %v", got, err)
	}
	if _, err := list(t.Context(), l, "s3a://bucket/x"); !errors.Is(err, publish.ErrSchema) {
		t.Errorf("a table on s3a: %v, want ErrSchema", err)
	}
	if _, err := list(t.Context(), l, "hdfs://nn/none"); !errors.Is(err, stage.ErrNotExist) {
		t.Errorf("no directory: %v, want ErrNotExist", err)
	}
}
