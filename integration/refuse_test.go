package integration

import (
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/wire"
	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// TestSecondRunWhileActive: the same job and date again, while the first run is reading.
func TestSecondRunWhileActive(t *testing.T) {
	w := newWorld(t, "embedded")
	stall := w.Oracle.Faults().Set(wire.Fault{Kind: wire.FaultStall, AtRow: 100, Match: wire.Match{User: scenario.Reader, SQL: `"SEQ" >= 15001`}})
	first := command(t, w, "run", "--job", scenario.Job, "--date", scenario.Date)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stall.Hit():
	case <-t.Context().Done():
		t.Fatal("the first run never read")
	}
	active := latest(t, w)
	got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date)
	if got.code != pipeline.ExitDuplicate || !strings.Contains(got.stderr, active.Short()) || !strings.Contains(got.stderr, "DUPLICATE_ACTIVE_RUN") {
		t.Errorf("second run: %s\nwant exit 3 with %s", got, active.Short())
	}
	stall.Release()
	if err := first.Wait(); err != nil {
		t.Errorf("first run: %v", err)
	}
	if run := latest(t, w); run.ID != active.ID || run.State != ledger.Success {
		t.Errorf("newest run is %s (%s), want the first one, SUCCESS", run.ID, run.State)
	}
}

// TestDateWithoutRows ends as the job's allow_empty says.
func TestDateWithoutRows(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
			t.Fatalf("first load: %s", got)
		}
		if err := w.Oracle.Run(scenario.Owner, "DELETE FROM APP.INSP_DTL WHERE INSP_DT >= DATE '2026-09-28'"); err != nil {
			t.Fatal(err)
		}
		got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date)
		if got.code != pipeline.ExitFailed || !strings.Contains(got.stderr, "EMPTY_REFUSED") {
			t.Errorf("run without rows: %s", got)
		}
		if run := latest(t, w); run.State != ledger.FailedManifest {
			t.Errorf("run is %s, want FAILED_MANIFEST", run.State)
		}
		if lines, err := w.TargetLines(t.Context()); err != nil || len(lines) != scenario.Rows {
			t.Errorf("the target has %d rows (%v), want the %d that were there", len(lines), err, scenario.Rows)
		}
		env := newEnv(t, w)
		job := w.Job()
		job.AllowEmpty = true
		if run := runJob(t, env, job, pipeline.Submission{}); run.State != ledger.Success {
			t.Errorf("run that may be empty is %s: %s", run.State, run.Message)
		}
		wantNoTarget(t, w)
	})
}
