package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// Recovery says how an engine recovers what others left behind.
type Recovery struct {
	Interval     time.Duration // between two ticks
	PublishStale time.Duration // a publish whose owner is gone for so long is given up
	Settle       time.Duration // how long a target must look the same before it is judged
	Mode         ledger.RecoveryMode
	Prove        bool // resolve a publish of unknown outcome by proof alone (publish.unknown: prove)
	Keep         ledger.Retention
	CleanEvery   time.Duration // 0: never
}

// sweeper ticks: it decides with the ledger what becomes of lost work, compares a ledger that may have lost its tail, and
// cleans. Every process has one; the ledger lets one act at a time.
func (e *engine) sweeper() error {
	r := e.Recovery
	var prover sync.WaitGroup
	defer prover.Wait()
	if r.Prove {
		prover.Go(e.prover)
	}
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	var cleaned time.Time
	for e.stop.Err() == nil {
		e.tick(e.stop)
		if r.CleanEvery > 0 && time.Since(cleaned) >= r.CleanEvery {
			cleaned = time.Now()
			if _, err := e.Clean(e.stop, r.Keep); err != nil {
				e.complain("clean", err)
			}
		}
		select {
		case <-tick.C:
		case <-e.stop.Done():
		}
	}
	return nil
}

func (e *engine) tick(ctx context.Context) {
	r := e.Recovery
	found, err := e.CompareLedger(ctx, ReconcileOptions{Settle: r.Settle, By: e.Host})
	if err != nil {
		e.complain("compare the ledger with the marks", err)
	}
	for _, m := range append(found.Adopted, found.Unknown...) {
		e.Log.Error("LEDGER_MISMATCH: a mark is newer than the ledger", "run", m.Run, "job", m.Path, "attempt", m.Attempt)
	}
	swept, err := e.Ledger.Sweep(ctx, ledger.SweepOptions{Interval: r.Interval, Stale: e.Timing.Stale, PublishStale: r.PublishStale, Mode: r.Mode})
	if err != nil {
		e.complain("sweep", err)
	}
	for _, d := range swept.Deeds {
		e.Log.Warn("recovered", "what", d.What, "run", d.Run, "handle", d.Handle, "message", d.Message)
	}
}

// prover looks again and again at the runs that wait for a decision. It ticks beside the sweeper, because to look takes
// longer than a tick may.
func (e *engine) prover() {
	tick := time.NewTicker(max(e.Recovery.Interval, e.Recovery.Settle))
	defer tick.Stop()
	for e.stop.Err() == nil {
		e.proveAll(e.stop)
		select {
		case <-tick.C:
		case <-e.stop.Done():
		}
	}
}

// proveAll reconciles the runs that wait for a decision, and resolves those that proof decides.
func (e *engine) proveAll(ctx context.Context) {
	runs, err := e.Ledger.List(ctx, ledger.Filter{States: []ledger.State{ledger.PublishUnknown}})
	if err != nil {
		e.complain("list publishes of unknown outcome", err)
		return
	}
	for _, run := range runs {
		if e.judged(ctx, run) {
			continue
		}
		found, err := e.Prove(ctx, run.ID, ReconcileOptions{Settle: e.Recovery.Settle, By: e.Host})
		if err != nil {
			if !errors.Is(err, ledger.ErrStale) {
				e.complain("reconcile "+run.Handle(), err)
			}
			continue
		}
		e.Log.Warn("reconciled", "run", run.ID, "verdict", found.Verdict, "reason", found.Reason, "state", found.Run.State)
	}
}

// judged says whether a run has a verdict that more looking will not change: it waits for a person.
func (e *engine) judged(ctx context.Context, run ledger.Run) bool {
	attempts, err := e.Ledger.Attempts(ctx, run.ID)
	if err != nil {
		e.complain("read the attempts of "+run.Handle(), err)
		return true
	}
	for _, a := range attempts {
		if a.Token == run.PublishToken {
			return a.Verdict == ledger.Damaged || a.Verdict == ledger.Conflict
		}
	}
	return false
}
