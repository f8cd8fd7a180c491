package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Mark is what lies in the run's directory as _PUBLISH.<n> before attempt n is armed: everything that a ledger which
// lost its tail needs to fence that attempt and to judge what it did.
type Mark struct {
	Ledger        string           `json:"ledger"`
	Run           string           `json:"run"`
	Attempt       int              `json:"attempt"`
	Token         string           `json:"token"`
	Target        string           `json:"target"` // canonical id, as in the run
	Tag           string           `json:"tag"`
	Handle        publish.Handle   `json:"handle"`
	Before        publish.Evidence `json:"before"` // E0
	TargetDamaged bool             `json:"target_damaged"`
}

// errMark: a mark of another attempt is where ours should be.
var errMark = errors.New("LEDGER_MISMATCH: a mark tells of a publish that the ledger does not know")

// errTorn: a mark's writer did not come to its end. Since it is whole before its attempt may arm, that one never did.
var errTorn = errors.New("the mark is not whole")

// publishing is one claimed attempt to publish.
type publishing struct {
	*work
	frozen   *frozen
	token    string
	evidence publish.Evidence
	session  publish.Session
	rows     int64 // staged
	armed    bool  // the statement may have been sent
}

// publish replaces the target's rows by the sealed ones, by one statement that is sent at most once.
//
// Before: PUBLISHING under our token, nothing armed. After: PUBLISHED; FAILED_PUBLISH with the target proved unchanged;
// PUBLISH_UNKNOWN; or back at STAGING_VALIDATED, because nothing was sent. In order: the sealed directory is listed once
// more; evidence E0 is read; a session is opened; the mark is created, exclusively; the attempt is armed (one UPDATE that
// stores E0 and the session); the statement is sent, on that session, by nobody but the process whose arm committed; its
// end, E1 and the rows written are recorded. A crash before the arm has changed nothing (a mark without an arm is
// harmless, an arm always has its mark). A crash after it leaves PUBLISHING armed: never sent again, looked at instead.
func (w *work) publish(ctx context.Context) (err error) {
	p := &publishing{work: w, token: w.own.Hold.Token.String()}
	ctx = publish.WithTag(ctx, tag(w.own.Run))
	defer func() {
		if p.session != nil {
			p.close(ctx)
		}
	}()
	defer func() { // a library that panics must not leave the claim open
		if v := recover(); v != nil {
			err = p.fell(ctx, fmt.Errorf("publish: panic: %v", v))
		}
	}()
	if err := p.prepare(ctx); err != nil {
		return p.notArmed(ctx, err)
	}
	if err := p.arm(ctx); err != nil {
		return p.notArmed(ctx, err)
	}
	p.armed = true
	start := time.Now()
	result, err := p.session.Publish(ctx, p.publication(), p.progress(ctx))
	w.log.Info("publish statement ended", "elapsed", time.Since(start).Round(time.Millisecond), "rows", result.Rows, "err", err)
	return p.record(ctx, result, err)
}

// fell records a publish that came to grief in our own process: harmless before the arm, of unknown outcome after it.
func (p *publishing) fell(ctx context.Context, err error) error {
	if p.armed {
		return p.record(ctx, publish.Result{}, fmt.Errorf("%w: %w", publish.ErrUnknown, err))
	}
	return p.notArmed(ctx, err)
}

// prepare does everything that comes before the arm. Whatever goes wrong here, nothing was sent.
func (p *publishing) prepare(ctx context.Context) (err error) {
	if p.frozen, err = p.thawHere(ctx, p.own.Run.ID); err != nil {
		return err
	}
	manifest, err := p.manifest(ctx, p.frozen)
	if err != nil {
		return err
	}
	for _, c := range manifest.Chunks {
		p.rows += c.Rows
	}
	if err := stage.CheckSealed(ctx, p.Store, p.frozen.layout, manifest); err != nil {
		return err
	}
	if p.evidence, err = p.Warehouse.Observe(ctx, p.frozen.Target); err != nil {
		return err
	}
	if p.session, err = p.Warehouse.Open(ctx, p.tag()); err != nil {
		return err
	}
	return p.mark(ctx)
}

func (p *publishing) tag() string { return tag(p.own.Run) }

func (p *publishing) publication() publish.Publication {
	return publish.Publication{Staging: p.staging(p.frozen), Target: p.frozen.Target, Tag: p.tag()}
}

// mark creates _PUBLISH.<n>, exclusively and never by rename.
func (p *publishing) mark(ctx context.Context) error {
	m := Mark{
		Ledger: p.Ledger.ID().String(), Run: p.frozen.id(), Attempt: p.own.PublishAttempt, Token: p.token, Target: p.frozen.job.TargetID, Tag: p.tag(),
		Handle: p.session.Handle(), Before: p.evidence, TargetDamaged: p.own.Run.TargetDamaged,
	}
	name := p.frozen.layout.Mark(p.own.PublishAttempt)
	f, err := p.Store.Create(ctx, name)
	if errors.Is(err, stage.ErrExist) {
		return p.marked(ctx)
	}
	if err != nil {
		return fmt.Errorf("mark the publish: %w", err)
	}
	if _, err := f.Write(asJSON(m)); err != nil {
		return errors.Join(fmt.Errorf("mark the publish: %w", err), f.Abort())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("mark the publish: %w", err)
	}
	return nil
}

// marked looks at a mark that is there already. One with our token is ours: the answer to its creation was lost. A torn
// one is in the way of this attempt only; the next has another name.
func (p *publishing) marked(ctx context.Context) error {
	m, err := ReadMark(ctx, p.Store, p.frozen.layout, p.own.PublishAttempt)
	switch {
	case err != nil:
		return fmt.Errorf("look at the mark that is there: %w", err)
	case m.Token != p.token:
		return fmt.Errorf("%w: mark %d is of token %s", errMark, p.own.PublishAttempt, m.Token)
	}
	return nil
}

// ReadMark reads the mark of a publish attempt; stage.ErrNotExist if there is none.
func ReadMark(ctx context.Context, s stage.Store, l stage.Layout, attempt int) (m Mark, err error) {
	f, err := s.Open(ctx, l.Mark(attempt))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = json.NewDecoder(io.NewSectionReader(f, 0, f.Size())).Decode(&m)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return m, fmt.Errorf("read mark %s: %w: %w", l.Mark(attempt), errTorn, err)
	}
	if err != nil {
		return m, fmt.Errorf("read mark %s: %w", l.Mark(attempt), err)
	}
	return m, nil
}

// arm asks the ledger for the right to send. It is asked once; an answer that was lost is looked up, not repeated.
func (p *publishing) arm(ctx context.Context) error {
	h := p.session.Handle()
	err := p.Ledger.Arm(ctx, p.hold(), ledger.Arming{Evidence: asJSON(p.evidence), Session: asJSON(h), Instance: h.Instance, Tag: p.tag()})
	if !errors.Is(err, ledger.ErrCommitUnknown) {
		return err
	}
	return p.retryLedger(ctx, func() error {
		attempts, rerr := p.Ledger.Attempts(ctx, p.own.Run.ID)
		if rerr != nil {
			return rerr
		}
		for _, a := range attempts {
			if a.Token == p.hold().Token && a.ArmedAt != nil {
				return nil
			}
		}
		return fmt.Errorf("%w: the arm was not committed", ledger.ErrUnreachable)
	})
}

// notArmed gives the claim back: nothing was sent. A mark of somebody else stops the run instead.
func (p *publishing) notArmed(ctx context.Context, err error) error {
	c := Classify(err)
	if c.Kind == Stale && !errors.Is(context.Cause(ctx), ErrStop) {
		return err
	}
	r := ledger.Result{Event: ledger.EventNotArmed, Class: c.Code, Message: err.Error(), Retry: pause(p.own.PublishAttempt)}
	if errors.Is(err, errMark) {
		r.Event, r.Class = ledger.EventPublishUnknown, "LEDGER_MISMATCH"
	}
	return errors.Join(err, p.tell(ctx, r))
}

// progress records what is known of the running statement, for whoever has to find it later.
func (p *publishing) progress(ctx context.Context) func(publish.Progress) {
	return func(g publish.Progress) {
		s := ledger.Sent{QueryID: g.QueryID, Progress: asJSON(map[string]any{"fraction": g.Fraction, "text": g.Text})}
		if g.Operation != "" {
			s.Operation = asJSON(g.Operation)
		}
		if err := p.Ledger.PublishProgress(ctx, p.hold(), s); err != nil {
			p.log.Warn("publish progress not recorded", "err", err, "query_id", g.QueryID)
		}
	}
}

// record tells the ledger how the statement ended.
func (p *publishing) record(ctx context.Context, res publish.Result, err error) error {
	c := Classify(err)
	r := ledger.Result{Class: c.Code}
	switch {
	case err == nil:
		r = p.published(ctx, res)
	case errors.Is(err, publish.ErrRefused):
		r.Event, r.Target, r.Message = ledger.EventPublishFailed, ledger.TargetUnchanged, err.Error()
	default:
		r.Event, r.Class, r.Message = ledger.EventPublishUnknown, "PUBLISH_UNKNOWN", err.Error()
	}
	return errors.Join(err, p.tell(ctx, r))
}

// published gathers E1. Not to get it is no failure of the publish; the target is validated in any case.
func (p *publishing) published(ctx context.Context, res publish.Result) ledger.Result {
	r := ledger.Result{Event: ledger.EventPublished, Detail: asJSON(map[string]any{"query_id": res.QueryID, "elapsed": res.Elapsed.String(), "staged": p.rows})}
	if res.Rows >= 0 {
		r.RowsWritten = &res.Rows
	}
	if res.Rows >= 0 && res.Rows != p.rows {
		p.log.Error("warehouse wrote another number of rows than were staged", "rows", res.Rows, "staged", p.rows)
		r.Class, r.Message = "MISMATCH", fmt.Sprintf("the warehouse says that it wrote %d rows, %d were staged", res.Rows, p.rows)
	}
	after, err := p.Warehouse.Observe(ctx, p.frozen.Target)
	if err != nil {
		p.log.Warn("evidence after the publish not read", "err", err)
		return r
	}
	r.After = asJSON(after)
	return r
}

// tell records the result even though the work may have been cancelled: nobody else knows it.
func (p *publishing) tell(ctx context.Context, r ledger.Result) error {
	told, done := context.WithTimeout(context.WithoutCancel(ctx), p.Timing.StepLease)
	defer done()
	return p.retryLedger(told, func() error {
		_, err := p.Ledger.PublishResult(told, p.hold(), r)
		return err
	})
}

func (p *publishing) close(ctx context.Context) {
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer done()
	if err := p.session.Close(closing); err != nil {
		p.log.Warn("publish session not closed", "err", err)
	}
}
