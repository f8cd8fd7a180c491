package publishtest

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Run runs the suite. Its tests run in parallel, each on tables of its own.
func Run(t *testing.T, h Harness) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"Identity", identity},
		{"InspectAndCreate", inspectAndCreate},
		{"Drift", drift},
		{"StageAndUnstage", stageAndUnstage},
		{"MeasuresAreExact", measuresAreExact},
		{"NUL02NullsStayNull", nullsStayNull},
		{"PublishReplacesOnePartition", publishReplacesOnePartition},
		{"EMP01NoRowsClear", noRowsClear},
		{"EMP02EmptyAndBrokenFiles", emptyAndBrokenFiles},
		{"RefusedLeavesTheTarget", refusedLeavesTheTarget},
		{"ClosedSessionChangesNothing", closedSessionChangesNothing},
		{"IDQ07PartitionValues", partitionValues},
		{"IDQ04ColumnNames", columnNames},
		{"Unpartitioned", unpartitioned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, h)
		})
	}
}

// simple are two columns that most tests do with.
func simple() []stage.Column { return []stage.Column{column("seq", narrow), column("note", text)} }

func identity(t *testing.T, h Harness) {
	a, err := h.Warehouse.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := h.Warehouse.Identity(t.Context()); err != nil || a != b || a == "" {
		t.Errorf("identity %q, then %q, %v", a, b, err)
	}
}

func inspectAndCreate(t *testing.T, h Harness) {
	x := publish.Target{Database: h.Database, Table: name("create"), Columns: simple(), Partition: []publish.PartitionValue{{Column: "load_date", Value: "d"}}}
	if _, err := h.Warehouse.Observe(t.Context(), x); !errors.Is(err, publish.ErrNoTarget) {
		t.Errorf("observed a table that is not there: %v, want ErrNoTarget", err)
	}
	if st, err := h.Warehouse.Inspect(t.Context(), x); err != nil || st.Exists {
		t.Fatalf("before: %+v, %v", st, err)
	}
	h.create(t, x)
	h.create(t, x) // there already
	st, err := h.Warehouse.Inspect(t.Context(), x)
	if err != nil || !st.Exists || st.Location == "" || st.Detail == "" {
		t.Errorf("after: %+v, %v", st, err)
	}
	e := h.observe(t, x)
	if e.Location != "" || len(e.Files) > 0 || e.Rows != 0 {
		t.Errorf("a partition that never was: %+v", e)
	}
}

func drift(t *testing.T, h Harness) {
	have := h.target(t, "drift", simple())
	for says, change := range map[string]func(*publish.Target){
		`"seq" is decimal(18,2)`: func(x *publish.Target) { x.Columns[0].Type.Precision = 20 },
		`"other" (`:              func(x *publish.Target) { x.Columns = append(x.Columns, column("other", text)) },
		`"note" (`:               func(x *publish.Target) { x.Columns = x.Columns[:1] },
		"partitioned by (load_date), the plan by (dt)": func(x *publish.Target) { x.Partition[0].Column = "dt" },
		"the plan by ()": func(x *publish.Target) { x.Partition = nil },
	} {
		want := have
		want.Columns, want.Partition = slices.Clone(have.Columns), slices.Clone(have.Partition)
		change(&want)
		_, err := h.Warehouse.Inspect(t.Context(), want)
		if !errors.Is(err, publish.ErrSchema) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), have.Table) {
			t.Errorf("error %v, want ErrSchema that names the table and says %s", err, says)
		}
	}
}

func stageAndUnstage(t *testing.T, h Harness) {
	s := h.sealed(t, simple(), []row{{"1.00", "a"}})
	if _, err := h.Warehouse.Measure(t.Context(), publish.Scope{Staging: &s}, measures(s.Columns)); !errors.Is(err, publish.ErrStatement) {
		t.Errorf("measure before the staging table is there: %v, want ErrStatement", err)
	}
	for range 2 {
		if err := h.Warehouse.Stage(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	other := h.sealed(t, simple(), []row{{"1.00", "a"}})
	other.Table = s.Table
	if err := h.Warehouse.Stage(t.Context(), other); !errors.Is(err, publish.ErrSchema) {
		t.Errorf("a staging table of that name elsewhere: %v, want ErrSchema", err)
	}
	if err := h.Warehouse.Unstage(t.Context(), other); !errors.Is(err, publish.ErrSchema) {
		t.Errorf("drop of a staging table that is another: %v, want ErrSchema", err)
	}
	for range 2 {
		if err := h.Warehouse.Unstage(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	run := s.Location[strings.LastIndex(s.Location, "run_id="):]
	files, err := h.Store.List(t.Context(), path.Join("publishtest", run))
	if err != nil || len(files) != 3 {
		t.Errorf("after the drop %d files are left, want 3: %v", len(files), err)
	}
}

func publishReplacesOnePartition(t *testing.T, h Harness) {
	cols := simple()
	x := h.target(t, "publish", cols)
	neighbour := partition(x, "2026-09-27")
	h.publish(t, h.seal(t, cols, []row{{"7.00", "yesterday"}}), neighbour)
	before := h.observe(t, neighbour)
	e0 := h.observe(t, x)

	s := h.seal(t, cols, []row{{"1.00", "a"}, {nil, "b"}}, []row{{"-3.50", nil}})
	if r := h.publish(t, s, x); r.Rows != 3 && r.Rows != -1 {
		t.Errorf("the warehouse says that it wrote %d rows, want 3", r.Rows)
	}
	h.equal(t, s, x, "3")
	e1 := h.observe(t, x)
	if sameFiles(e0, e1) || e1.Location == "" || e1.LastDDL == "" || e1.Rows != 3 || len(e1.Files) == 0 {
		t.Errorf("evidence before %+v, after %+v", e0, e1)
	}
	for _, f := range e1.Files {
		if f.ID == 0 || f.Size == 0 {
			t.Errorf("file without id or size: %+v", f)
		}
	}

	h.publish(t, s, x) // the same again: other files, the same rows
	h.equal(t, s, x, "3")
	e2 := h.observe(t, x)
	for _, f := range e2.Files {
		if slices.ContainsFunc(e1.Files, func(g publish.FileEvidence) bool { return f.ID == g.ID }) {
			t.Errorf("file %s of the publish before is still there", f.Path)
		}
	}
	if after := h.observe(t, neighbour); !sameFiles(before, after) {
		t.Errorf("the neighbour changed from %+v to %+v", before, after)
	}
}

func noRowsClear(t *testing.T, h Harness) {
	cols := simple()
	x := h.target(t, "empty", cols)
	h.publish(t, h.seal(t, cols, []row{{"1.00", "a"}, {"2.00", "b"}}), x)
	none := h.seal(t, cols)
	if r := h.publish(t, none, x); r.Rows > 0 {
		t.Errorf("the warehouse says that it wrote %d rows of none", r.Rows)
	}
	h.equal(t, none, x, "0")
	if e := h.observe(t, x); e.Rows != 0 {
		t.Errorf("the partition has %d rows left", e.Rows)
	}
	never := partition(x, "2000-01-01")
	h.publish(t, none, never)
	h.equal(t, none, never, "0")
}

func emptyAndBrokenFiles(t *testing.T, h Harness) {
	cols := simple()
	s := h.seal(t, cols, nil, []row{{"1.00", "a"}}, nil) // files without rows among others
	if m := h.measure(t, publish.Scope{Staging: &s}, cols); m[0].Value != "1" {
		t.Errorf("%s rows, want 1", m[0].Value)
	}
	for word, data := range map[string][]byte{"zero bytes": {}, "a head only": []byte("PAR1")} {
		broken := h.sealed(t, cols, []row{{"1.00", "a"}})
		run := broken.Location[strings.LastIndex(broken.Location, "run_id="):]
		h.put(t, path.Join("publishtest", run, "part-00009-00000.parquet"), data)
		if err := h.Warehouse.Stage(t.Context(), broken); err != nil {
			t.Fatal(err)
		}
		_, err := h.Warehouse.Measure(t.Context(), publish.Scope{Staging: &broken}, measures(cols))
		if err == nil && len(data) > 0 { // Hive passes over a file of no bytes; sealing never lets one in
			t.Errorf("a file of %s was measured", word)
		}
		if err := h.Warehouse.Unstage(t.Context(), broken); err != nil {
			t.Error(err)
		}
	}
}

func refusedLeavesTheTarget(t *testing.T, h Harness) {
	cols := simple()
	x := h.target(t, "refused", cols)
	good := h.seal(t, cols, []row{{"1.00", "a"}})
	h.publish(t, good, x)
	before := h.observe(t, x)
	absent := h.sealed(t, cols, []row{{"2.00", "b"}})
	missing := x
	missing.Table += "_none"
	drifted := x
	drifted.Columns = append(slices.Clone(cols), column("late", narrow))
	for word, try := range map[string]struct {
		s publish.Staging
		x publish.Target
	}{
		"a staging table that is not there": {absent, x},
		"a target that is not there":        {good, missing},
		"a target that lacks a column":      {h.seal(t, drifted.Columns, []row{{"2.00", "b", "3.00"}}), drifted},
	} {
		if _, err := h.try(t, try.s, try.x); !errors.Is(err, publish.ErrRefused) || errors.Is(err, publish.ErrUnknown) {
			t.Errorf("%s: %v, want ErrRefused", word, err)
		}
	}
	if after := h.observe(t, x); !sameFiles(before, after) {
		t.Errorf("the target changed from %+v to %+v", before, after)
	}
}

func closedSessionChangesNothing(t *testing.T, h Harness) {
	cols := simple()
	x := h.target(t, "closed", cols)
	s := h.seal(t, cols, []row{{"1.00", "a"}})
	h.publish(t, s, x)
	before := h.observe(t, x)

	session, err := h.Warehouse.Open(t.Context(), "loadctl-publishtest-2")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(session.Handle())
	var handle publish.Handle
	if err == nil {
		err = json.Unmarshal(b, &handle)
	}
	if err != nil || handle != session.Handle() || handle.Session == "" || handle.Instance == "" {
		t.Errorf("handle %+v, %v, want %+v", handle, err, session.Handle())
	}
	if err := session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Publish(t.Context(), publish.Publication{Staging: s, Target: x}, func(publish.Progress) {}); err == nil {
		t.Error("a closed session published")
	}

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	session, err = h.Warehouse.Open(t.Context(), "loadctl-publishtest-3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Publish(cancelled, publish.Publication{Staging: s, Target: x}, func(publish.Progress) {}); err == nil {
		t.Error("a cancelled publish succeeded")
	}
	if err := session.Close(cancelled); err != nil {
		t.Errorf("close after a cancel: %v", err)
	}
	if after := h.observe(t, x); !sameFiles(before, after) {
		t.Errorf("the target changed from %+v to %+v", before, after)
	}
}

func partitionValues(t *testing.T, h Harness) {
	cols := simple()
	x := publish.Target{Database: h.Database, Table: name("values"), Columns: cols,
		Partition: []publish.PartitionValue{{Column: "load_date", Value: "x"}, {Column: "region", Value: "y"}}}
	h.create(t, x)
	for i, values := range [][]string{{`it's`, `a\`}, {`x'); DROP TABLE t;--`, `"한글/%25 = ${env:HOME}"`}, {`;`, `\`}} {
		one := partition(x, values...)
		seq := string(rune('1'+i)) + ".00"
		h.publish(t, h.seal(t, cols, []row{{seq, values[0]}}), one)
		if e := h.observe(t, one); e.Location == "" || e.Rows != 1 {
			t.Errorf("partition %q: %+v", values, e)
		}
	}
	for _, values := range [][]string{{`it''s`, `a\`}, {`it's`, `a`}, {`x`, `${env:HOME}`}} {
		if e := h.observe(t, partition(x, values...)); e.Location != "" || e.Rows != 0 {
			t.Errorf("partition %q is there: %+v", values, e)
		}
	}
}

// columnNames also proves that columns go by name: the target has them in another order than the files.
func columnNames(t *testing.T, h Harness) {
	cols := []stage.Column{column("select", narrow), column("금액", ratio), column("a$b", text), column("c#", text),
		column("a-b", text), column("const", text), column("class", text), column("_x", text), column("1st", text), column("location", text)}
	r := row{"1.25", "2.5", "dollar", "hash", "dash", "const", "class", "under", "first", "where"}
	reversed := slices.Clone(cols)
	slices.Reverse(reversed)
	x := h.target(t, "names", reversed)
	x.Columns = cols
	s := h.seal(t, cols, []row{r})
	h.publish(t, s, x)
	h.equal(t, s, x, "1")
	for _, m := range h.measure(t, publish.Scope{Target: &x}, cols) {
		if m.What == extract.Sum && m.Column == "select" && m.Value != "1.25" {
			t.Errorf("sum of select is %s", m.Value)
		}
	}
}

func unpartitioned(t *testing.T, h Harness) {
	cols := simple()
	x := publish.Target{Database: h.Database, Table: name("whole"), Columns: cols}
	h.create(t, x)
	for _, n := range []string{"1", "2"} {
		s := h.seal(t, cols, slices.Repeat([]row{{n + ".00", nil}}, int(n[0]-'0')))
		h.publish(t, s, x)
		h.equal(t, s, x, n)
	}
	if _, err := h.Warehouse.Inspect(t.Context(), x); err != nil {
		t.Errorf("inspect after: %v", err)
	}
}
