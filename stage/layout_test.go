package stage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

func TestLayoutPaths(t *testing.T) {
	l := newLayout(t)
	attempt, err := l.AttemptDir(3, "0198f2ad-token")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ got, want string }{
		{l.RunDir(), "INSP_DTL/run_id=0198f2ab-run"},
		{l.AttemptsDir(), "INSP_DTL/.attempts/run_id=0198f2ab-run"},
		{attempt, "INSP_DTL/.attempts/run_id=0198f2ab-run/3-0198f2ad-token"},
		{l.Sealed(stage.Chunk{Partition: 3, Index: 12}), "INSP_DTL/run_id=0198f2ab-run/part-00003-00012.parquet"},
		{l.Mark(4), "INSP_DTL/run_id=0198f2ab-run/_PUBLISH.4"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
}

func TestLayoutRefusesUnsafeNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "_hidden", "a:b", "a b", "한글", "a\x00", "-a", "a*", strings.Repeat("x", 129)} {
		for what, o := range map[string]stage.Owner{
			"job":    {Ledger: "l", Run: "r", Job: bad},
			"run":    {Ledger: "l", Run: bad, Job: "j"},
			"ledger": {Ledger: bad, Run: "r", Job: "j"},
		} {
			if _, err := stage.NewLayout(o); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("NewLayout(%+v) returned %v, want a refusal of the %s", o, err, what)
			}
		}
		if dir, err := newLayout(t).AttemptDir(0, bad); err == nil {
			t.Errorf("AttemptDir(0, %q) = %s, want a refusal", bad, dir)
		}
	}
	if dir, err := newLayout(t).AttemptDir(-1, "token"); err == nil {
		t.Errorf("AttemptDir(-1) = %s, want a refusal", dir)
	}
}

func TestCheckChunkPath(t *testing.T) {
	const dir = "j/.attempts/run_id=r/0-t"
	if err := stage.CheckChunkPath(dir, dir+"/part-00000-00000.parquet"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"", ".", dir, dir + "/", dir + "/a/b", dir + "/../0-u/p", dir + "/./p", dir + "//p", "/" + dir + "/p", dir + "x/p",
		"j/.attempts/run_id=r/0-u/p", dir + "/.hidden", dir + "/_hidden", dir + "/a\x00b", dir + `/a\b`, "../" + dir + "/p",
	} {
		if err := stage.CheckChunkPath(dir, bad); err == nil {
			t.Errorf("CheckChunkPath accepts %q", bad)
		}
	}
}

func TestMarkNumber(t *testing.T) {
	for name, want := range map[string]int{"_PUBLISH.0": 0, "_PUBLISH.12": 12, "_PUBLISH.": -1, "_PUBLISH.-1": -1, "_PUBLISH.01": -1, "_PUBLISH.+1": -1, "_SUCCESS": -1, "x_PUBLISH.1": -1} {
		if n, ok := stage.MarkNumber(name); ok != (want >= 0) || ok && n != want {
			t.Errorf("MarkNumber(%q) = %d, %v; want %d", name, n, ok, want)
		}
	}
}

func table(names ...string) *extract.Table {
	t := &extract.Table{}
	for _, n := range names {
		t.Columns = append(t.Columns, extract.Column{Name: n, Type: extract.Type{Kind: extract.Text}})
	}
	return t
}

// IDQ-04, IDQ-05: names are kept as they are but for their case.
func TestColumnsKeepsNames(t *testing.T) {
	cols, err := stage.Columns(table("SEQ", "Mixed", "금액", "A$B", "C#", "a-b", "CONST", "_X", "1ST", "Ä"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"seq", "mixed", "금액", "a$b", "c#", "a-b", "const", "_x", "1st", "ä"}
	for i, c := range cols {
		if c.Name != want[i] {
			t.Errorf("column %d is named %q, want %q", i, c.Name, want[i])
		}
	}
	if cols[1].Source != "Mixed" || cols[1].Type.Kind != extract.Text {
		t.Errorf("column 1 is %+v; want source Mixed of kind text", cols[1])
	}
}

// IDQ-03: columns that differ only by case are refused, naming both.
func TestColumnsRefusesCollision(t *testing.T) {
	_, err := stage.Columns(table("Id", "ID", "OTHER", "id"))
	if !errors.Is(err, extract.ErrUnsupported) {
		t.Fatalf("got %v, want ErrUnsupported", err)
	}
	for _, want := range []string{`"Id" and "ID"`, `"Id" and "id"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
}

// IDQ-04: what Hive cannot carry is refused by name, all faults at once.
func TestColumnsRefusesCharacters(t *testing.T) {
	bad := []string{"", "x.y", "a:b", "back`tick", "a,b", "semi;colon", "tab\tin", "nul\x00", " lead", "trail ", "a b", "a\u3000b", "f(x)", "a=b", "{a}", "ROW__ID", "\xff", "İ", "ΣΑΣ"}
	_, err := stage.Columns(table(bad...))
	if !errors.Is(err, extract.ErrUnsupported) {
		t.Fatalf("got %v, want ErrUnsupported", err)
	}
	if got := len(strings.Split(err.Error(), "\n")); got != len(bad) {
		t.Errorf("%d faults reported, want %d:\n%v", got, len(bad), err)
	}
}
