package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
)

// ReconcileOptions say how to look at a publish whose outcome is not known.
type ReconcileOptions struct {
	Settle       time.Duration // how long the target must look the same, counted from the fence
	InstanceDead bool          // the operator says that the server which ran the statement is gone for good
	By           string        // who asks: user@host
}

// Reconciled is what a reconciliation found.
type Reconciled struct {
	Run     ledger.Run
	Verdict publish.Verdict
	Reason  string
	Fenced  bool
	Fence   string            // how it was fenced, or why not
	Before  publish.Evidence  // E0
	Now     *publish.Evidence // nil: not looked at
	Staged  int64
}

// lookTries bounds how often a target that keeps changing is looked at.
const lookTries = 5

// Reconcile finds out what a publish of unknown outcome did. It first fences: after the compare-and-swap nothing can arm
// under the attempt's token, and after the session is closed, on the very instance that it is of, nothing sent on it can
// still land. Then it looks at the target, twice, Settle apart, and judges. Everything is stored under the attempt's
// token, so that a late word never decides about another attempt. It changes nothing at the target.
func (e *Env) Reconcile(ctx context.Context, id uuid.UUID, o ReconcileOptions) (Reconciled, error) {
	run, err := e.Ledger.Run(ctx, id)
	if err != nil {
		return Reconciled{}, err
	}
	if run, err = e.adoptMark(ctx, run); err != nil {
		return Reconciled{Run: run}, err
	}
	hold := ledger.Hold{Run: id, Token: run.PublishToken}
	fenced, err := e.Ledger.Fence(ctx, hold, o.By)
	if err != nil {
		return Reconciled{Run: run}, err
	}
	if fenced.NeverArmed {
		return Reconciled{Run: fenced.Run, Verdict: publish.NotApplied, Fenced: true, Fence: "never armed, so nothing was sent",
			Reason: "the attempt never armed: the run is back at STAGING_VALIDATED and will be published again"}, nil
	}
	r := &reconciliation{Env: e, hold: hold, opt: o, attempt: fenced.Attempt}
	r.found.Run = fenced.Run
	if err := r.work(ctx); err != nil {
		return r.found, err
	}
	r.found.Run, err = e.Ledger.Run(ctx, id)
	return r.found, err
}

// reconciliation is one Reconcile of an attempt that was armed.
type reconciliation struct {
	*Env
	hold    ledger.Hold
	opt     ReconcileOptions
	attempt ledger.Attempt
	frozen  *frozen
	found   Reconciled
}

func (r *reconciliation) work(ctx context.Context) (err error) {
	if r.frozen, err = r.thaw(ctx, r.hold.Run); err != nil {
		return err
	}
	if err := json.Unmarshal(r.attempt.Evidence, &r.found.Before); err != nil {
		return fmt.Errorf("read the evidence from before the publish: %w", err)
	}
	if err := r.fence(ctx); err != nil {
		return err
	}
	if !r.found.Fenced { // the server that is not reached is all that is known; nobody needs to answer for that
		return r.judge(ctx, publish.Undecided, "the statement may still be under way: "+r.found.Fence)
	}
	if err := r.check(ctx, r.frozen.Identities); err != nil {
		return err
	}
	now, target, err := r.look(ctx)
	if err != nil {
		return err
	}
	if now == nil {
		return r.judge(ctx, publish.Undecided, "the target keeps changing")
	}
	foreign, err := r.foreignMark(ctx)
	if err != nil {
		return err
	}
	staged, err := r.staged(ctx)
	if err != nil {
		return err
	}
	c := publish.Case{Before: r.found.Before, Now: *now, Staged: staged, Target: target, Foreign: foreign}
	verdict, why := c.Judge()
	return r.judge(ctx, verdict, why)
}

// fence closes the attempt's session and records whether that is proved.
func (r *reconciliation) fence(ctx context.Context) error {
	var h publish.Handle
	if err := json.Unmarshal(r.attempt.Session, &h); err != nil {
		return fmt.Errorf("read the publish session: %w", err)
	}
	err := r.Warehouse.Fence(ctx, h)
	switch {
	case err == nil:
		r.found.Fenced, r.found.Fence = true, "its session on "+h.Instance+" is closed"
	case r.opt.InstanceDead:
		r.found.Fenced, r.found.Fence = true, "the operator says that "+h.Instance+" is gone for good"
	default:
		r.found.Fence = err.Error()
	}
	return r.Ledger.RecordFence(ctx, r.hold, r.found.Fenced, asJSON(map[string]any{
		"how": r.found.Fence, "instance": h.Instance, "by": r.opt.By, "instance_dead": r.opt.InstanceDead,
	}))
}

// seen is one observation, without what differs by itself.
type seen struct {
	Evidence publish.Evidence
	Metrics  []extract.Metric
}

// look observes the target until two observations, Settle apart, are equal; nil when it keeps changing.
func (r *reconciliation) look(ctx context.Context) (*publish.Evidence, []extract.Metric, error) {
	var last string
	for range lookTries {
		now, err := r.observe(ctx)
		if err != nil {
			return nil, nil, err
		}
		text := string(asJSON(now))
		if _, err := r.Ledger.RecordObservation(ctx, r.hold, json.RawMessage(text)); err != nil {
			return nil, nil, err
		}
		r.found.Now = &now.Evidence
		if text == last {
			return &now.Evidence, now.Metrics, nil
		}
		last = text
		if err := sleep(ctx, r.opt.Settle+settleSlack); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// settleSlack is added to a wait of ours, so that the ledger's clock has seen all of it too.
const settleSlack = 50 * time.Millisecond

func (r *reconciliation) observe(ctx context.Context) (seen, error) {
	e, err := r.Warehouse.Observe(ctx, r.frozen.Target)
	if err != nil {
		return seen{}, err
	}
	e.At = time.Time{}
	ms, err := r.Warehouse.Measure(ctx, publish.Scope{Target: &r.frozen.Target}, r.frozen.WarehouseMeasures())
	if errors.Is(err, publish.ErrStatement) && len(e.Files) == 0 {
		return seen{Evidence: e}, nil // Hive cannot read a partition whose directory is gone; there are no rows in it
	}
	if err != nil {
		return seen{}, err
	}
	if n, ok := rowsOf(ms); ok {
		e.Rows = n
	}
	return seen{e, ms}, nil
}

// staged is what the staging table measured when it was validated.
func (r *reconciliation) staged(ctx context.Context) ([]extract.Metric, error) {
	all, err := r.Ledger.Validations(ctx, r.hold.Run)
	if err != nil {
		return nil, err
	}
	var out []extract.Metric
	for _, v := range all {
		if v.Stage != ledger.StageStaging || v.Partition != -1 {
			continue
		}
		m := extract.Metric{Column: v.Column, What: extract.What(v.Name), Null: v.Value == nil}
		if v.Value != nil {
			m.Value = *v.Value
		}
		out = append(out, m)
	}
	r.found.Staged, _ = rowsOf(out)
	return out, nil
}

// rowsOf finds the number of rows among metrics.
func rowsOf(ms []extract.Metric) (int64, bool) {
	for _, m := range ms {
		if m.What == extract.Rows {
			n, err := strconv.ParseInt(m.Value, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// foreignMark says whether a run that the ledger does not know has marked a publish on this run's target.
func (r *reconciliation) foreignMark(ctx context.Context) (bool, error) {
	found, err := r.marks(ctx, r.frozen.job.Name)
	if err != nil {
		return false, err
	}
	for _, m := range found {
		if m.Target != "" && m.Target != r.frozen.job.TargetID {
			continue
		}
		id, err := uuid.Parse(m.Run)
		if err != nil {
			return true, nil
		}
		if _, err := r.Ledger.Run(ctx, id); errors.Is(err, ledger.ErrNoRun) {
			return true, nil
		} else if err != nil {
			return false, err
		}
	}
	return false, nil
}

func (r *reconciliation) judge(ctx context.Context, v publish.Verdict, why string) error {
	r.found.Verdict, r.found.Reason = v, why
	detail := asJSON(map[string]any{"reason": why, "before": r.found.Before, "now": r.found.Now})
	return r.Ledger.RecordVerdict(ctx, r.hold, ledger.Judgement{Verdict: ledger.Verdict(v), Settle: r.opt.Settle, Detail: detail})
}

// Resolve takes a person's word on a publish of unknown outcome that was reconciled.
func (e *Env) Resolve(ctx context.Context, id uuid.UUID, r ledger.Resolution) (ledger.Run, error) {
	run, err := e.Ledger.Run(ctx, id)
	if err != nil {
		return run, err
	}
	return e.Ledger.Resolve(ctx, ledger.Hold{Run: id, Token: run.PublishToken}, r)
}

// Prove reconciles and, where the evidence proves that the statement did all or nothing, resolves by that alone.
func (e *Env) Prove(ctx context.Context, id uuid.UUID, o ReconcileOptions) (Reconciled, error) {
	found, err := e.Reconcile(ctx, id, o)
	if err != nil || found.Run.State != ledger.PublishUnknown {
		return found, err
	}
	as := map[publish.Verdict]ledger.ResolveAs{publish.Applied: ledger.AsPublished, publish.NotApplied: ledger.AsFailed}[found.Verdict]
	if as == "" {
		return found, nil
	}
	found.Run, err = e.Resolve(ctx, id, ledger.Resolution{As: as, Reason: found.Reason, By: o.By, Proof: true})
	return found, err
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
