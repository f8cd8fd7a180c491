package ledger_test

import (
	"encoding/json"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

const lease = time.Minute

// open gives the test a ledger of its own.
func open(t *testing.T) (*ledger.Ledger, ledgertest.Database) {
	t.Helper()
	db := ledgertest.New(t)
	return db.Open(t, ledger.Config{MaxConns: 40}), db
}

// request asks for a run of a job on 2026-09-28.
func request(t *testing.T, job string) ledger.RunRequest {
	t.Helper()
	id, err := ledger.NewRunID()
	if err != nil {
		t.Fatal(err)
	}
	return ledger.RunRequest{ID: id, Job: job, Key: "2026-09-28", TargetID: "wh/" + job, Source: "src", MaxSessions: 3, MaxAttempts: 3,
		AttemptRoot: "/load/" + job + "/.attempts/run_id=" + id.String(), Spec: json.RawMessage(`{"job": "x"}`), Digest: "d1", Timeout: time.Hour}
}

func submit(t *testing.T, l *ledger.Ledger, job string) ledger.Run {
	t.Helper()
	return must(t)(l.Submit(t.Context(), request(t, job)))
}

// must returns the value of a call that has to succeed.
func must(t *testing.T) func(ledger.Run, error) ledger.Run {
	return func(r ledger.Run, err error) ledger.Run {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// own takes the run's step that is due.
func own(t *testing.T, l *ledger.Ledger, run uuid.UUID, kind ledger.Dispatch) ledger.Ownership {
	t.Helper()
	due, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: run, Limit: 10})
	check(t, err)
	if len(due) != 1 || due[0].Kind != kind {
		t.Fatalf("due steps %+v, want one %s", due, kind)
	}
	o, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: due[0].ID, Token: ledger.NewToken(), Lease: lease})
	check(t, err)
	if !o.Owned {
		t.Fatalf("own %s: not owned: %s", kind, o.Why)
	}
	return o
}

// manifest plans slices with these row counts, by the owner of PLAN.
func manifest(hold ledger.Hold, rows ...int64) ledger.Manifest {
	m := ledger.Manifest{Hold: hold, SCN: "8839201174", Identity: json.RawMessage(`{"dbid": 1}`), Strategy: "range(SEQ)"}
	for i, n := range rows {
		m.Slices = append(m.Slices, ledger.Slice{Index: i, Spec: json.RawMessage(fmt.Sprintf(`{"lo": %d}`, i)), Display: fmt.Sprintf("[%d,%d)", i, i+1), Expected: n})
		m.Total += n
	}
	return m
}

// planned submits a run and registers a plan of these row counts.
func planned(t *testing.T, l *ledger.Ledger, job string, rows ...int64) ledger.Run {
	t.Helper()
	run := submit(t, l, job)
	o := own(t, l, run.ID, ledger.Plan)
	return must(t)(l.RegisterManifest(t.Context(), manifest(o.Hold, rows...)))
}

// claim takes the next partition of a run.
func claim(t *testing.T, l *ledger.Ledger, run uuid.UUID) ledger.Claim {
	t.Helper()
	c, ok, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Run: run, Token: ledger.NewToken(), Worker: "w", Lease: lease})
	check(t, err)
	if !ok {
		t.Fatal("no partition to claim")
	}
	return c
}

func chunk(c ledger.Claim, i int, rows int64) ledger.File {
	return ledger.File{Index: i, Path: path.Join(c.Dir, fmt.Sprintf("part-%d-%d.parquet", c.Partition, i)), Rows: rows, Bytes: rows * 10, Digest: fmt.Sprintf("x%d", i)}
}

// extract reads a claimed partition as one chunk and finishes it.
func extract(t *testing.T, l *ledger.Ledger, c ledger.Claim) ledger.Outcome {
	t.Helper()
	check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, c.Expected)))
	out, err := l.FinishPartition(t.Context(), c.Held, ledger.FinishReport{Chunks: 1, Rows: c.Expected})
	check(t, err)
	return out
}

// extracted brings a run to EXTRACTED_VALIDATED.
func extracted(t *testing.T, l *ledger.Ledger, job string) ledger.Run {
	t.Helper()
	run := planned(t, l, job, 10, 0, 20)
	extract(t, l, claim(t, l, run.ID))
	extract(t, l, claim(t, l, run.ID))
	return must(t)(l.Run(t.Context(), run.ID))
}

func rowsMetric(n string) []ledger.Metric {
	return []ledger.Metric{ledger.Value("", ledger.MetricRows, n), ledger.Value("A", ledger.MetricNonNull, n), ledger.Value("A", "sum", n+".50")}
}

// staged brings a run to STAGING_VALIDATED.
func staged(t *testing.T, l *ledger.Ledger, job string) ledger.Run {
	t.Helper()
	run := extracted(t, l, job)
	o := own(t, l, run.ID, ledger.ValidateStage)
	check(t, l.Sealed(t.Context(), o.Hold, "/load/sealed"))
	record(t, l, o.Hold, ledger.StageStream, rowsMetric("30"))
	record(t, l, o.Hold, ledger.StageStaging, rowsMetric("30"))
	return must(t)(l.StagingValidated(t.Context(), o.Hold, nil))
}

func record(t *testing.T, l *ledger.Ledger, hold ledger.Hold, stage ledger.Stage, ms []ledger.Metric) {
	t.Helper()
	_, err := l.RecordMetrics(t.Context(), hold, stage, ms)
	check(t, err)
}

func arming() ledger.Arming {
	return ledger.Arming{Evidence: json.RawMessage(`{"files": []}`), Session: json.RawMessage(`{"guid": "s"}`), Instance: "h:10000", Tag: "loadctl"}
}

// armed brings a run to PUBLISHING and arms it.
func armed(t *testing.T, l *ledger.Ledger, job string) ledger.Ownership {
	t.Helper()
	run := staged(t, l, job)
	o := own(t, l, run.ID, ledger.Publish)
	check(t, l.Arm(t.Context(), o.Hold, arming()))
	return o
}

// published brings a run to PUBLISHED.
func published(t *testing.T, l *ledger.Ledger, job string) ledger.Run {
	t.Helper()
	o := armed(t, l, job)
	check(t, l.PublishProgress(t.Context(), o.Hold, ledger.Sent{Operation: json.RawMessage(`"op"`), QueryID: "q1"}))
	n := int64(30)
	return must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n, After: json.RawMessage(`{"files": [1]}`)}))
}

// verified brings a run to SUCCESS.
func verified(t *testing.T, l *ledger.Ledger, job string) ledger.Run {
	t.Helper()
	run := published(t, l, job)
	o := own(t, l, run.ID, ledger.ValidateTarget)
	record(t, l, o.Hold, ledger.StageTarget, rowsMetric("30"))
	return must(t)(l.Verified(t.Context(), o.Hold, nil))
}

func TestMainPathEndsInSuccess(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := verified(t, l, "INSP_DTL")
	if run.State != ledger.Success {
		t.Fatalf("state %s, want SUCCESS", run.State)
	}
	entries, err := l.Events(t.Context(), run.ID)
	check(t, err)
	var states []ledger.State
	for _, e := range entries {
		if e.Kind == ledger.KindState {
			states = append(states, e.To)
		}
	}
	want := []ledger.State{"CREATED", "EXTRACTING", "EXTRACTED_VALIDATED", "STAGE_VALIDATING", "STAGING_VALIDATED", "PUBLISHING", "PUBLISHED", "SUCCESS"}
	if fmt.Sprint(states) != fmt.Sprint(want) {
		t.Fatalf("history %v, want %v", states, want)
	}
	ladder, err := l.Ladder(t.Context(), run.ID)
	check(t, err)
	if len(ladder) != len(ledger.Boundaries) {
		t.Fatalf("ladder %+v, want all of %v", ladder, ledger.Boundaries)
	}
	if run.PartitionsDone != 3 || run.RowsDone != 30 || run.Chunks != 2 || run.SCN != "8839201174" {
		t.Fatalf("run %+v, want 3 partitions, 30 rows, 2 chunks", run)
	}
	again := submit(t, l, "INSP_DTL")
	if again.Number != 2 || again.Handle() != "INSP_DTL/2026-09-28#2" {
		t.Fatalf("second run is %s, want INSP_DTL/2026-09-28#2", again.Handle())
	}
	if due, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: run.ID}); err != nil || len(due) > 0 {
		t.Fatalf("due after SUCCESS: %v, %v, want none", due, err)
	}
}
