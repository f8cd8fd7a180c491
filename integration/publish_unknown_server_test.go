package integration

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/loadctl/loadctl/integration/proxy"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

// TestStatementHeldBack holds a publish statement on its way to HiveServer2, until its run is over and a later one has
// published: the server must refuse it.
func TestStatementHeldBack(t *testing.T) {
	d := newDoubt(t)
	s, answered := newStop(t), make(chan struct{})
	var held atomic.Int64 // the connection
	d.proxy.Rule(func(c proxy.Call) proxy.Fate {
		switch {
		case c.Publish && !c.Answered && held.CompareAndSwap(0, int64(c.Conn)):
			_ = s.here()
		case c.Publish && c.Answered && held.Load() == int64(c.Conn):
			close(answered)
		}
		return proxy.Pass
	})
	change(t, d.World)
	before := d.lines(t)
	run := d.submit(t, d.env)
	done := make(chan error, 1)
	go func() {
		engine := pipeline.Engine{Env: d.env, Only: run.ID}
		done <- engine.Run(t.Context(), t.Context())
	}()
	await(t, s.reached)
	other := d.newEnv(t)
	found := d.reconcile(t, other, run, before)
	if found.Verdict != publish.NotApplied {
		t.Errorf("verdict %s, want NOT_APPLIED", found.Verdict)
	}
	first := resolve(t, other, found.Run, ledger.AsFailed)
	if wantState(t, first, ledger.FailedPublish); first.TargetOutcome != ledger.TargetUnchanged {
		t.Errorf("the target is %s, want unchanged", first.TargetOutcome)
	}
	change(t, d.World)
	second := runJob(t, other, d.Job(), pipeline.Submission{})
	wantState(t, second, ledger.Success)

	sent := d.proxy.Statements()
	s.goOn()
	if err := <-done; err != nil {
		t.Errorf("the revived publisher: %v", err)
	}
	await(t, answered)
	if n := d.proxy.Statements() - sent; n != 1 {
		t.Fatalf("%d statements reached the server from the revived publisher, want the one that was held: the test shows nothing", n)
	}
	wantTarget(t, d.World, second.SCN)
	if now, err := other.Ledger.Run(t.Context(), run.ID); err != nil || now.State != first.State || now.TargetOutcome != first.TargetOutcome {
		t.Errorf("the first run is %s %s, %v, was %s %s", now.State, now.TargetOutcome, err, first.State, first.TargetOutcome)
	}
}

// TestHiveServer2Killed kills the server while the statement runs. Until it is up again, or said to be gone for good,
// nothing is known; then its session does not exist, and the files tell.
func TestHiveServer2Killed(t *testing.T) {
	// A stack of its own: a metastore that lives on is what ends the locks of the dead.
	stack, err := rig.Start(t.Context(), rig.Options{Metastore: rig.Standalone, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Stop(context.Background()); err != nil {
			t.Errorf("stop the stack: %v", err)
		}
	})
	d := doubtIn(t, smallHive(t, stack))
	var running statement
	hold, struck := once(running.polled, proxy.Cut)
	killed := make(chan error, 1)
	d.proxy.Rule(func(c proxy.Call) proxy.Fate {
		fate := hold(c)
		if fate == proxy.Cut {
			killed <- stack.Kill(context.WithoutCancel(t.Context()), "hiveserver2")
		}
		return fate
	})
	change(t, d.World)
	before := d.lines(t)
	run := runJob(t, d.env, d.Job(), pipeline.Submission{})
	d.proxy.Rule(nil)
	wantStruck(t, struck)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	d.wantDoubt(t, run)

	down := reconcile(t, d.env, run, publish.Undecided)
	if down.Fenced {
		t.Errorf("fenced (%s) while the server is down", down.Fence)
	}
	if err := stack.Restart(t.Context(), "hiveserver2"); err != nil {
		t.Fatalf("restart HiveServer2: %v", err)
	}
	found := d.reconcile(t, d.env, run, before)
	run = d.goOn(t, found)
	if run.State == ledger.StagingValidated {
		run = drive(t, d.env, run.ID)
	}
	d.wantSuccess(t, run)
}
