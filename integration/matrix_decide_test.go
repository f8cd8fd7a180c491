package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// decideLanes is how many cells run side by side here.
const decideLanes = 8

// TestCrashMatrixOfDecisions is the crash matrix of what ends PUBLISH_UNKNOWN: a run's statement is lost, done or not
// done; then each effect of reconciling and resolving meets each fault, and is done again by another process. The target
// must be the source, by one statement if the first was done, by two if it was not.
func TestCrashMatrixOfDecisions(t *testing.T) {
	w := fewRows(t)
	all := make([]*lane, decideLanes)
	for i := range all {
		all[i] = newLane(t, w, i)
	}
	all[0].prepare(t)
	type cell struct {
		publish stagetest.Mode // how the run came to be of unknown outcome
		fault   fault
	}
	var cells []cell
	for _, how := range []stagetest.Mode{stagetest.Lost, stagetest.NotDone} {
		effects := all[0].countDecision(t, how)
		for _, e := range effects {
			for _, mode := range stagetest.Modes() {
				cells = append(cells, cell{how, fault{effect: e, mode: mode}})
			}
		}
	}
	t.Logf("%d cells", len(cells))
	var work sync.WaitGroup
	for n, l := range all {
		work.Go(func() {
			for i := n; i < len(cells); i += decideLanes {
				if err := l.decideCell(t.Context(), i, cells[i].publish, cells[i].fault); err != nil {
					t.Errorf("publish %s, then %s\n\t%v", cells[i].publish, cells[i].fault, err)
				}
			}
		})
	}
	work.Wait()
	for _, l := range all {
		wantLegalLedger(t, l.w)
	}
}

// unknown runs a job to PUBLISH_UNKNOWN.
func (l *lane) unknown(ctx context.Context, number int, how stagetest.Mode) (*pipeline.Job, ledger.Run, error) {
	j := l.job(number)
	if err := l.seed(j); err != nil {
		return j, ledger.Run{}, err
	}
	p, err := l.start(ctx, fault{effect: effect{"warehouse publish", 1}, mode: how})
	if err != nil {
		return j, ledger.Run{}, err
	}
	defer p.end()
	if err := p.run(j); err != nil {
		return j, ledger.Run{}, err
	}
	run, err := l.env.Ledger.Find(ctx, j.Name+"/"+j.Key)
	if err == nil && run.State != ledger.PublishUnknown {
		err = fmt.Errorf("the run is %s (%s), want PUBLISH_UNKNOWN", run.State, run.Message)
	}
	return j, run, err
}

// countDecision lists the effects of a decision that goes right.
func (l *lane) countDecision(t *testing.T, how stagetest.Mode) []effect {
	t.Helper()
	_, run, err := l.unknown(t.Context(), countCell+len(how), how)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.start(t.Context(), fault{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	if _, err := decide(p.ctx, p.env, run.ID); err != nil {
		t.Fatal(err)
	}
	all := p.effects.all()
	if len(all) < 6 {
		t.Fatalf("effects %v, want six at least: the fence and its record, two looks, the verdict, the word", all)
	}
	return all
}

// decideCell has one decision meet one fault, and then another process take it.
func (l *lane) decideCell(ctx context.Context, number int, how stagetest.Mode, f fault) error {
	ctx, cancel := context.WithTimeout(ctx, cellTimeout)
	defer cancel()
	j, run, err := l.unknown(ctx, number, how)
	if err != nil {
		return err
	}
	p, err := l.start(ctx, f)
	if err != nil {
		return err
	}
	_, err = decide(p.ctx, p.env, run.ID)
	p.end()
	if !p.effects.didStrike() || err == nil {
		return fmt.Errorf("the fault did not strike: %v", err)
	}
	if run, err = l.recover(ctx, j); err != nil {
		return err
	}
	sent, want := len(l.sent.of(run.ID.String())), map[stagetest.Mode]int{stagetest.Lost: 1, stagetest.NotDone: 2}[how]
	if sent != want {
		err = fmt.Errorf("%d statements were sent, want %d", sent, want)
	}
	return errors.Join(err, l.check(ctx, f, j, run))
}
