package integration

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
)

// TestScenario is the main job through the user's door: the real program, while other sessions change the table.
func TestScenario(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		scn := strconv.FormatUint(w.Oracle.Database().Store().SCN(), 10)
		writers := w.StartWriters(1)
		got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date, "--scn", scn)
		commits, err := writers.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if got.code != 0 {
			t.Fatalf("run: %s", got)
		}
		if commits == 0 {
			t.Fatal("no other session committed while the run read: the test shows nothing")
		}
		if want := "105,000 rows"; !strings.Contains(got.stdout, want) {
			t.Errorf("run printed %q, want %q in it", got.stdout, want)
		}
		run := latest(t, w)
		if run.State != ledger.Success || run.SCN != scn || run.ExpectedRows != scenario.Rows {
			t.Errorf("run is %s at SCN %s with %d rows, want SUCCESS at %s with %d", run.State, run.SCN, run.ExpectedRows, scn, scenario.Rows)
		}
		wantTarget(t, w, scn)
		wantReferees(t, w, scn)
		wantLedger(t, w, run)
		wantStatus(t, w)
		wantAgain(t, w, run)
	})
}

// wantLedger checks what the ledger tells of a run that went right.
func wantLedger(t *testing.T, w *scenario.World, run ledger.Run) {
	t.Helper()
	l := open(t, w)
	ctx := t.Context()
	events, err := l.Events(ctx, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	var states []ledger.State
	for _, e := range events {
		if e.Kind == ledger.KindState {
			if e.At.IsZero() {
				t.Errorf("%s has no time", e.To)
			}
			states = append(states, e.To)
		}
	}
	want := []ledger.State{ledger.Created, ledger.Extracting, ledger.ExtractedValidated, ledger.StageValidating, ledger.StagingValidated,
		ledger.Publishing, ledger.Published, ledger.Success}
	if len(states) != len(want) {
		t.Fatalf("states %v, want %v", states, want)
	}
	for i := range want {
		if states[i] != want[i] {
			t.Errorf("state %d is %s, want %s", i, states[i], want[i])
		}
	}
	wantPartitions(t, l, run)
	wantMetrics(t, l, run)
}

func wantPartitions(t *testing.T, l *ledger.Ledger, run ledger.Run) {
	t.Helper()
	partitions, err := l.Partitions(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(partitions) != 8 {
		t.Fatalf("%d partitions, want 8", len(partitions))
	}
	for _, p := range partitions {
		want := int64(15000)
		if p.Index == 2 { // 30001..45000 are not there
			want = 0
		}
		if p.State != ledger.PartitionSuccess || p.Rows != want || *p.Expected != want {
			t.Errorf("partition %d (%s) is %s with %d rows of %d, want SUCCESS with %d", p.Index, p.Display, p.State, p.Rows, *p.Expected, want)
		}
	}
	files, err := l.Files(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	var rows int64
	for _, f := range files {
		if f.Rows == 0 || f.Bytes == 0 || f.Digest == "" {
			t.Errorf("chunk %s has %d rows, %d bytes, digest %q", f.Path, f.Rows, f.Bytes, f.Digest)
		}
		rows += f.Rows
	}
	if rows != scenario.Rows {
		t.Errorf("chunks have %d rows, want %d", rows, scenario.Rows)
	}
}

// wantMetrics checks that source, staging and target are recorded and equal.
func wantMetrics(t *testing.T, l *ledger.Ledger, run ledger.Run) {
	t.Helper()
	all, err := l.Validations(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	values := map[ledger.Stage]map[string]string{}
	for _, m := range all {
		if m.Partition != -1 {
			continue
		}
		if values[m.Stage] == nil {
			values[m.Stage] = map[string]string{}
		}
		v := "NULL"
		if m.Value != nil {
			v = *m.Value
		}
		values[m.Stage][m.Column+" "+m.Name] = v
	}
	for _, name := range []string{" rows", "AMOUNT sum", "SEQ min", "SEQ max", "NOTE nonnull", "CREATED_AT max", "CLOSED_AT min"} {
		source := values[ledger.StageSource][name]
		for _, stage := range []ledger.Stage{ledger.StageStream, ledger.StageStaging, ledger.StageTarget} {
			if got := values[stage][name]; got != source || got == "" {
				t.Errorf("%s at %s is %q, at the source %q", name, stage, got, source)
			}
		}
	}
	if got := values[ledger.StageTarget]["AMOUNT sum"]; got != scenario.Sum {
		t.Errorf("AMOUNT sum is %s, want %s", got, scenario.Sum)
	}
}

// wantStatus checks the ladder and the metrics of status.
func wantStatus(t *testing.T, w *scenario.World) {
	t.Helper()
	got := loadctl(t, w, "status", scenario.Job+"/"+scenario.Date, "--output", "json")
	if got.code != 0 {
		t.Fatalf("status: %s", got)
	}
	var doc struct {
		Schema string `json:"schema"`
		Run    struct {
			State string `json:"state"`
			SCN   string `json:"scn"`
		} `json:"run"`
		Boundaries map[string]json.RawMessage `json:"boundaries"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil {
		t.Fatalf("status printed %q: %v", got.stdout, err)
	}
	if doc.Schema != "loadctl/v1" || doc.Run.State != "SUCCESS" || doc.Run.SCN == "" {
		t.Errorf("status says %+v", doc)
	}
	for _, b := range ledger.Boundaries {
		if len(doc.Boundaries[string(b)]) == 0 {
			t.Errorf("status has no boundary %s", b)
		}
	}
}

// wantAgain checks that a new run is allowed after SUCCESS and replaces the partition with equal content.
func wantAgain(t *testing.T, w *scenario.World, first ledger.Run) {
	t.Helper()
	got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date, "--scn", first.SCN)
	if got.code != 0 {
		t.Fatalf("second run: %s", got)
	}
	second := latest(t, w)
	if second.ID == first.ID || second.Number != first.Number+1 || second.State != ledger.Success {
		t.Errorf("second run is %s (%s), first was %s", second.Handle(), second.State, first.Handle())
	}
	wantTarget(t, w, first.SCN)
}
