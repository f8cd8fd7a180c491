package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/scenario"
)

// kills is how many runs are killed. Each is killed at another moment of its life.
const kills = 12

// TestKilledRunLeavesLegalLedger kills loadctl run with SIGKILL at moments spread over its life, and looks whether the
// ledger is one that PostgreSQL and the table of transitions allow.
func TestKilledRunLeavesLegalLedger(t *testing.T) {
	w := newWorld(t, "embedded")
	start := time.Now()
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
		t.Fatalf("run: %s", got)
	}
	life := time.Since(start)
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("LOADCTL_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("LOADCTL_TEST_SEED=%d, a run takes %s", seed, life.Round(time.Millisecond))
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		// A killed run stays active, so each kill has a target and a job of its own.
		name := fmt.Sprintf("KILL_%d", i)
		if err := w.WriteJob(name, w.JobText(name, fmt.Sprintf("lake.kill_%d", i))); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, w, "run", "--job", name, "--date", scenario.Date)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		at := time.Duration(float64(life) * (float64(i) + r.Float64()) / kills)
		time.Sleep(at) // the moment is what is being tried
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, or done before
	}
	wantLegalLedger(t, w)
	wantStates(t, w, 2)
}

// wantLegalLedger checks, beside what foreign keys hold in any case, what they do not: each run's history is unbroken
// from submit on, the state of the run is where it ends, and no chunk that counts belongs to an attempt that does not.
func wantLegalLedger(t *testing.T, w *scenario.World) {
	t.Helper()
	ctx := context.Background()
	conn, err := w.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for what, query := range map[string]string{
		"histories with a gap": `SELECT count(*) FROM loadctl.load_run r WHERE r.seq + 1 <> (SELECT count(*) FROM loadctl.load_history h WHERE h.run_id = r.id)`,
		"runs that are not where their history ends": `SELECT count(*) FROM loadctl.load_run r JOIN loadctl.load_history h ON h.run_id = r.id AND h.seq = r.seq
			WHERE h.to_state <> r.state OR h.closed`,
		"steps that are no edge": `SELECT count(*) FROM loadctl.load_history h WHERE NOT EXISTS (SELECT FROM loadctl.transition t
			WHERE t.from_state = h.from_state AND t.event = h.event AND t.to_state = h.to_state)`,
		"chunks that count, of another attempt than the partition's": `SELECT count(*) FROM loadctl.load_file f JOIN loadctl.load_partition p ON p.run_id = f.run_id AND p.idx = f.partition
			WHERE f.voided_at IS NULL AND (p.token IS DISTINCT FROM f.token OR p.state NOT IN ('RUNNING', 'SUCCESS'))`,
		"succeeded partitions whose chunks do not add up": `SELECT count(*) FROM loadctl.load_partition p WHERE p.state = 'SUCCESS'
			AND p.rows_read <> (SELECT coalesce(sum(f.rows), 0) FROM loadctl.load_file f WHERE f.run_id = p.run_id AND f.partition = p.idx AND f.voided_at IS NULL)`,
		"active runs with nothing that could move them": `SELECT count(*) FROM loadctl.load_run r WHERE r.active AND r.state NOT IN ('EXTRACTING', 'PUBLISHING', 'PUBLISH_UNKNOWN')
			AND NOT EXISTS (SELECT FROM loadctl.load_dispatch d WHERE d.run_id = r.id AND d.state IN ('PENDING', 'ACKED'))`,
	} {
		var n int
		if err := conn.QueryRow(ctx, query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

// wantStates checks that the runs of a world are in no fewer different states: else the kills struck nothing.
func wantStates(t *testing.T, w *scenario.World, least int) {
	t.Helper()
	conn, err := w.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var states int
	if err := conn.QueryRow(t.Context(), `SELECT count(DISTINCT state) FROM loadctl.load_run`).Scan(&states); err != nil {
		t.Fatal(err)
	}
	if states < least {
		t.Errorf("the runs are in %d different states, want %d or more: the kills struck nothing", states, least)
	}
}
