package hive

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; then read the diff")

// plan is a publication with every type and with names that need quoting.
func plan() publish.Publication {
	cols := []stage.Column{
		{Name: "seq", Source: "SEQ", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
		{Name: "select", Source: "SELECT", Type: extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}},
		{Name: "ratio", Source: "RATIO", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}},
		{Name: "tiny", Source: "TINY", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 30}},
		{Name: "한글$#", Source: "한글$#", Type: extract.Type{Kind: extract.Text, Length: 400}},
		{Name: "back`tick", Source: "BACK`TICK", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}},
		{Name: "bin", Source: "BIN", Type: extract.Type{Kind: extract.Binary}},
		{Name: "f", Source: "F", Type: extract.Type{Kind: extract.Float32}},
		{Name: "d", Source: "D", Type: extract.Type{Kind: extract.Float64}},
	}
	return publish.Publication{
		Staging: publish.Staging{Database: "etl", Table: "insp_dtl__stg_01", Location: "hdfs://nn:8020/stage/it's/run_id=01", Columns: cols},
		Target: publish.Target{Database: "dw", Table: "insp_dtl", Columns: cols,
			Partition: []publish.PartitionValue{{Column: "load_date", Value: "2026-09-28"}, {Column: "region", Value: `a'b\`}}},
		Tag: "loadctl-01-1",
	}
}

func everyMeasure(cols []stage.Column) []extract.Measure {
	ms := []extract.Measure{{What: extract.Rows}}
	for _, c := range cols {
		for _, w := range []extract.What{extract.NonNull, extract.Sum, extract.Min, extract.Max, extract.Checksum} {
			if w == extract.Checksum || extract.Measurable(c.Type, w) {
				ms = append(ms, extract.Measure{Column: c.Source, Type: c.Type, What: w})
			}
		}
	}
	return ms
}

func TestStatementsGolden(t *testing.T) {
	p := plan()
	unpartitioned := plan()
	unpartitioned.Target.Partition = nil
	unpartitioned.Target.Columns = unpartitioned.Target.Columns[:1]
	w := &Warehouse{}
	golden(t, "partitioned.sql", w.Statements(p, everyMeasure(p.Target.Columns), true))
	golden(t, "unpartitioned.sql", w.Statements(unpartitioned, []extract.Measure{{What: extract.Rows}}, true))
}

func golden(t *testing.T, name string, statements []string) {
	t.Helper()
	got := strings.Join(statements, ";\n\n") + ";\n"
	file := "testdata/" + name
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs, got:\n%s", file, got)
	}
}

func TestIDQ07Literal(t *testing.T) {
	for in, want := range map[string]string{
		`it's`:        `'it\'s'`,
		`a\`:          `'a\\'`,
		`\`:           `'\\'`,
		`;`:           `';'`,
		`x"`:          `'x"'`,
		"a\nb\x00":    `'a\nb\0'`,
		`100%_`:       `'100%_'`,
		`${env:HOME}`: `'\u0024{env:HOME}'`,
		"한글":          `'한글'`,
	} {
		if got := literal(in); got != want {
			t.Errorf("literal(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestIDQ04Ident(t *testing.T) {
	for in, want := range map[string]string{"select": "`select`", "a`b": "`a``b`", "A$B #": "`A$B #`", "금액": "`금액`"} {
		if got := ident(in); got != want {
			t.Errorf("ident(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestChecksOfNamesAndSettings(t *testing.T) {
	text := extract.Type{Kind: extract.Text}
	err := checkColumns([]stage.Column{{Name: "a", Type: text}, {Name: "a", Type: text}, {Name: "x${y}", Type: text}, {Name: "z"}, {Name: "a b", Type: text}},
		[]publish.PartitionValue{{Column: "p"}})
	for _, want := range []string{`"a": there are two`, `"x${y}"`, `"z": its type`, `"a b": Hive's Parquet reader`, `"p": a partition value must not be empty`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %s", err, want)
		}
	}
	for _, bad := range [][2]string{{"", "x"}, {"a b", "x"}, {"a=b", "x"}, {"a", "x;drop"}, {"a", "x\ny"}, {"hive.compute.query.using.stats", "true"}} {
		if checkSetting(bad[0], bad[1]) == nil {
			t.Errorf("setting %q=%q was taken", bad[0], bad[1])
		}
	}
	if err := checkSetting("tez.queue.name", "etl"); err != nil {
		t.Error(err)
	}
}
