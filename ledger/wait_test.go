package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

func TestWaitReturnsWhenTheEffectCanBeRead(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{Poll: time.Hour}) // only notifications can wake it
	run := submit(t, l, "j")
	done := make(chan error, 1)
	go func() {
		r, err := l.Wait(t.Context(), run.ID, ledger.Extracted)
		if err == nil && (r.State != ledger.ExtractedValidated || r.PartitionsDone != 1) {
			err = errors.New("returned at " + string(r.State))
		}
		done <- err
	}()
	o := own(t, l, run.ID, ledger.Plan)
	must(t)(l.RegisterManifest(t.Context(), manifest(o.Hold, 5)))
	extract(t, l, claim(t, l, run.ID))
	check(t, <-done)
	if r := must(t)(l.Wait(t.Context(), run.ID, ledger.Planned)); r.State != ledger.ExtractedValidated {
		t.Fatalf("wait for what is long done returned %s", r.State)
	}
}

func TestWaitPollsWithoutNotifications(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{Poll: 5 * time.Millisecond})
	run := submit(t, l, "j")
	done := make(chan error, 1)
	go func() {
		_, err := l.Wait(t.Context(), run.ID, ledger.Verified)
		done <- err
	}()
	// by hand, without a notification
	change(t, db, advanceFromCreated, run.ID)
	var ended *ledger.EndedError
	if err := <-done; !errors.As(err, &ended) || ended.Run.State != ledger.Cancelled {
		t.Fatalf("wait: %v, want ended CANCELLED", err)
	}
}

const advanceFromCreated = `WITH u AS (UPDATE loadctl.load_run SET seq = 1, state = 'CANCELLED', active = false WHERE id = $1 RETURNING id),
 c AS (UPDATE loadctl.load_history h SET closed = true FROM u WHERE h.run_id = u.id AND h.seq = 0)
INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) SELECT id, 1, 'CREATED', 'cancel', 'CANCELLED', 'me' FROM u`

func TestWaitThatTimesOutChangesNothing(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := submit(t, l, "j")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // long enough to have read it once
	defer cancel()
	r, err := l.Wait(ctx, run.ID, ledger.Verified)
	if !errors.Is(err, context.DeadlineExceeded) || r.State != ledger.Created {
		t.Fatalf("wait: %s, %v, want CREATED and the deadline", r.State, err)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.Seq != 0 {
		t.Fatalf("run is at %d, want untouched", r.Seq)
	}
	if _, err := l.Wait(t.Context(), run.ID, "someday"); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("wait for nonsense: %v, want ErrInvalid", err)
	}
}
