package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// ask runs a statement as the superuser, for set-up and for looking behind the ledger's back.
func ask[T any](t *testing.T, db ledgertest.Database, sql string, args ...any) T {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, db.Admin)
	check(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql, args...)
	check(t, err)
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	check(t, err)
	return v
}

// change is ask for a statement that returns nothing.
func change(t *testing.T, db ledgertest.Database, sql string, args ...any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // clean-up calls it too
	conn, err := pgx.Connect(ctx, db.Admin)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql, args...)
	check(t, err)
}

func TestManyWorkersFewSlots(t *testing.T) {
	t.Parallel()
	const workers, partitions, slots = 32, 8, 3
	l, db := open(t)
	run := planned(t, l, "j", 1, 1, 1, 1, 1, 1, 1, 1)
	var mu sync.Mutex
	claims := map[int]int{}
	var running, most int
	errs := together(workers, func(int) error {
		for {
			c, ok, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Token: ledger.NewToken(), Lease: lease})
			if err != nil {
				return err
			}
			if !ok {
				r, err := l.Run(t.Context(), run.ID)
				if err != nil || r.State != ledger.Extracting {
					return err
				}
				continue
			}
			mu.Lock()
			claims[c.Partition]++
			running++
			most = max(most, running)
			mu.Unlock()
			if err := l.ReportChunk(t.Context(), c.Held, chunk(c, 0, c.Expected)); err != nil {
				return err
			}
			mu.Lock()
			running-- // before the report that frees the session
			mu.Unlock()
			if _, err := l.FinishPartition(t.Context(), c.Held, ledger.FinishReport{Chunks: 1, Rows: c.Expected}); err != nil {
				return err
			}
		}
	})
	check(t, errors.Join(errs...))
	for p := range partitions {
		if claims[p] != 1 {
			t.Errorf("partition %d was claimed %d times, want once", p, claims[p])
		}
	}
	if most > slots || most == 0 {
		t.Errorf("%d partitions ran at once, want at most %d", most, slots)
	}
	if n := ask[int](t, db, "SELECT max(n) FROM loadctl.load_slot"); n != slots {
		t.Errorf("%d slots, want %d", n, slots)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.State != ledger.ExtractedValidated || r.Retries != 0 {
		t.Errorf("run is %s with %d retries, want EXTRACTED_VALIDATED with none", r.State, r.Retries)
	}
}

func TestNoMorePartitionsThanTheRunsWorkers(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 1, 1, 1, 1)
	other := planned(t, l, "k", 1)
	change(t, db, "UPDATE loadctl.load_run SET max_workers = 2 WHERE id = $1", run.ID)
	first, _ := claim(t, l, run.ID), claim(t, l, run.ID)
	c, ok, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Token: ledger.NewToken(), Lease: lease})
	if check(t, err); !ok || c.Run != other.ID {
		t.Errorf("third claim is of run %v (%v), want the other run's partition: the first has 2 workers", c.Run, ok)
	}
	extract(t, l, first)
	if c := claim(t, l, run.ID); c.Partition != 2 {
		t.Errorf("claim after a finish is partition %d, want 2", c.Partition)
	}
}

func TestClaimRepeatedByToken(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5)
	req := ledger.ClaimRequest{Run: run.ID, Token: ledger.NewToken(), Lease: lease}
	first, ok, err := l.ClaimPartition(t.Context(), req)
	if err != nil || !ok || first.Attempt != 1 {
		t.Fatalf("claim %+v, %v, %v, want attempt 1", first, ok, err)
	}
	again, ok, err := l.ClaimPartition(t.Context(), req)
	if err != nil || !ok || again.Held != first.Held || again.Attempt != 1 || again.Dir != first.Dir {
		t.Fatalf("repeat %+v, %v, %v, want as recorded %+v", again, ok, err, first)
	}
	req.Token = ledger.NewToken()
	if _, ok, err := l.ClaimPartition(t.Context(), req); err != nil || ok {
		t.Fatalf("other token: %v, %v, want claimed=false and no error", ok, err)
	}
	if want := ledger.AttemptDir(run.AttemptRoot, 0, first.Token); first.Dir != want {
		t.Fatalf("attempt's directory %s, want %s", first.Dir, want)
	}
}

// A call is repeated while its first one is still on its way: both must mean the same partition and the same session.
func TestClaimsOfOneTokenAtOnce(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	planned(t, l, "a", 5, 5)
	planned(t, l, "b", 5, 5)
	token, slot := ledger.NewToken(), ledger.NewToken()
	claims := make([]ledger.Claim, 8)
	errs := together(len(claims), func(i int) error {
		c, ok, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Token: token, Lease: lease})
		if err == nil && !ok {
			err = errors.New("not claimed")
		}
		claims[i] = c
		if ok, serr := l.TakeSlot(t.Context(), "src", 3, slot, lease); !ok || serr != nil {
			err = errors.Join(err, serr, errors.New("no slot"))
		}
		return err
	})
	check(t, errors.Join(errs...))
	for _, c := range claims {
		if c.Held != claims[0].Held || c.Attempt != 1 {
			t.Errorf("claimed %+v and %+v, want the same", c.Held, claims[0].Held)
		}
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_partition WHERE state = 'RUNNING'"); n != 1 {
		t.Errorf("%d partitions running, want 1", n)
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_slot WHERE token IS NOT NULL"); n != 2 {
		t.Errorf("%d slots held, want 2", n)
	}
}

func TestHeartbeatNeedsPartitionAndSession(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5, 5)
	c, lost := claim(t, l, run.ID), claim(t, l, run.ID)
	beat, err := l.Heartbeat(t.Context(), c.Held, 3, 2*lease)
	if err != nil || !beat.Owned || beat.State != ledger.Extracting || !beat.LeaseUntil.After(c.LeaseUntil) {
		t.Fatalf("heartbeat %+v, %v, want owned and a longer lease than %s", beat, err, c.LeaseUntil)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.RowsDone != 3 {
		t.Fatalf("rows done %d, want 3", r.RowsDone)
	}
	stranger := c.Held
	stranger.Token = ledger.NewToken()
	if beat, err := l.Heartbeat(t.Context(), stranger, 4, lease); err != nil || beat.Owned {
		t.Fatalf("heartbeat of a stranger %+v, %v, want not owned", beat, err)
	}
	// The session's lease ran out and another process took it: the partition must not go on beside it.
	change(t, db, "UPDATE loadctl.load_slot SET token = gen_random_uuid() WHERE token = $1", lost.Token)
	if beat, err := l.Heartbeat(t.Context(), lost.Held, 1, lease); err != nil || beat.Owned {
		t.Fatalf("heartbeat without its session %+v, %v, want not owned", beat, err)
	}
	must(t)(l.Cancel(t.Context(), run.ID, "op", "stop"))
	if beat, err := l.Heartbeat(t.Context(), c.Held, 4, lease); err != nil || beat.Owned || beat.State != ledger.Cancelled {
		t.Fatalf("heartbeat after cancel %+v, %v, want not owned, CANCELLED", beat, err)
	}
}

func TestSlotsOutliveTheRunUntilFreedOrExpired(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5)
	c := claim(t, l, run.ID)
	for range 2 {
		if ok, err := l.TakeSlot(t.Context(), "src", 3, ledger.NewToken(), lease); err != nil || !ok {
			t.Fatalf("take slot: %v, %v, want taken", ok, err)
		}
	}
	must(t)(l.Cancel(t.Context(), run.ID, "op", "stop"))
	token := ledger.NewToken()
	if ok, err := l.TakeSlot(t.Context(), "src", 3, token, lease); err != nil || ok {
		t.Fatalf("a fourth slot: %v, %v, want refused: the worker still has its session", ok, err)
	}
	check(t, l.FreeSlot(t.Context(), c.Token))
	check(t, l.FreeSlot(t.Context(), c.Token))
	for range 2 { // the same token again succeeds again, and takes no second one
		if ok, err := l.TakeSlot(t.Context(), "src", 3, token, lease); err != nil || !ok {
			t.Fatalf("take the freed slot: %v, %v, want taken", ok, err)
		}
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_slot WHERE token IS NOT NULL"); n != 3 {
		t.Fatalf("%d slots held, want 3", n)
	}
	change(t, db, "UPDATE loadctl.load_slot SET lease_until = clock_timestamp() - interval '1 s' WHERE token = $1", token)
	if ok, err := l.TakeSlot(t.Context(), "src", 3, ledger.NewToken(), lease); err != nil || !ok {
		t.Fatalf("take the expired slot: %v, %v, want taken", ok, err)
	}
	if ok, err := l.RenewSlot(t.Context(), token, lease); err != nil || ok {
		t.Fatalf("renew a slot that was given away: %v, %v, want false", ok, err)
	}
}

func TestRetryCountsAttempts(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5, 5)
	back := claim(t, l, run.ID)
	check(t, l.ReportChunk(t.Context(), back.Held, chunk(back, 0, 5)))
	out, err := l.RetryPartition(t.Context(), back.Held, ledger.Lost{Class: "stop", Message: "shutting down"})
	if err != nil || out.Partition != ledger.PartitionRetry {
		t.Fatalf("hand back: %+v, %v, want RETRY", out, err)
	}
	if files, err := l.Files(t.Context(), run.ID); err != nil || len(files) != 0 {
		t.Fatalf("files after the hand-back: %v, %v, want none that count", files, err)
	}
	if all, err := l.AllFiles(t.Context(), run.ID); err != nil || len(all) != 1 || !all[0].Void {
		t.Fatalf("all files: %v, %v, want one void", all, err)
	}
	for attempt := 1; attempt <= 3; attempt++ {
		c := claim(t, l, run.ID)
		if c.Partition != 0 || c.Attempt != attempt {
			t.Fatalf("claimed partition %d attempt %d, want partition 0 attempt %d: a hand-back does not count", c.Partition, c.Attempt, attempt)
		}
		out, err = l.RetryPartition(t.Context(), c.Held, ledger.Lost{Class: "transient", Message: "ORA-12570", Counted: true})
		check(t, err)
	}
	if out.Partition != ledger.PartitionFailed || out.Run != ledger.FailedExtract {
		t.Fatalf("last attempt: %+v, want FAILED and FAILED_EXTRACT", out)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.State != ledger.FailedExtract || r.Message != "partition 0, attempt 3 of 3: ORA-12570" || r.Class != "transient" {
		t.Fatalf("run is %s: %s [%s]", r.State, r.Message, r.Class)
	}
	if got := ask[string](t, db, "SELECT string_agg(state, ' ' ORDER BY idx) FROM loadctl.load_partition"); got != "FAILED VOID" {
		t.Fatalf("partitions %s, want FAILED VOID", got)
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_slot WHERE token IS NOT NULL"); n != 0 {
		t.Fatalf("%d slots held, want none", n)
	}
}

func TestRetryWaits(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5)
	c := claim(t, l, run.ID)
	_, err := l.RetryPartition(t.Context(), c.Held, ledger.Lost{Class: "transient", After: time.Hour, Counted: true})
	check(t, err)
	req := ledger.ClaimRequest{Run: run.ID, Token: ledger.NewToken(), Lease: lease}
	if _, ok, err := l.ClaimPartition(t.Context(), req); err != nil || ok {
		t.Fatalf("claim before its time: %v, %v, want false", ok, err)
	}
	change(t, db, "UPDATE loadctl.load_partition SET not_before = clock_timestamp()")
	if c, ok, err := l.ClaimPartition(t.Context(), req); err != nil || !ok || c.Attempt != 2 {
		t.Fatalf("claim at its time: %+v, %v, %v, want attempt 2", c, ok, err)
	}
}

func TestFailPartitionFailsTheRun(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5, 5)
	c, other := claim(t, l, run.ID), claim(t, l, run.ID)
	f := ledger.Failure{Event: ledger.EventSnapshotGone, Class: "expired", Message: "ORA-01555"}
	for range 2 { // a repeat is answered as recorded
		if r := must(t)(l.FailPartition(t.Context(), c.Held, f)); r.State != ledger.FailedSnapshotExpired || r.Message != "ORA-01555" {
			t.Fatalf("run is %s: %s", r.State, r.Message)
		}
	}
	if _, err := l.FailPartition(t.Context(), other.Held, f); !errors.Is(err, ledger.ErrClaimMismatch) || !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("second failure: %v, want CLAIM_MISMATCH", err)
	}
	if _, err := l.FailPartition(t.Context(), other.Held, ledger.Failure{Event: ledger.EventCancel}); !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("by another event: %v, want a TransitionError", err)
	}
}

func TestClaimOnlyOfGivenSources(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5)
	req := ledger.ClaimRequest{Sources: []string{"elsewhere"}, Token: ledger.NewToken(), Lease: lease}
	if _, ok, err := l.ClaimPartition(t.Context(), req); err != nil || ok {
		t.Fatalf("claim of another source: %v, %v, want false", ok, err)
	}
	req.Sources = []string{"elsewhere", "src"}
	if c, ok, err := l.ClaimPartition(t.Context(), req); err != nil || !ok || c.Run != run.ID {
		t.Fatalf("claim %+v, %v, %v, want of run %s", c, ok, err, run.ID)
	}
	if _, _, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Token: uuid.Nil, Lease: lease}); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("claim without token: %v, want ErrInvalid", err)
	}
}
