package integration

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// effect is something that a process does to the store, the warehouse or the ledger: its name, without what is random
// in it, and the how manieth of that name it is.
type effect struct {
	name string
	n    int
}

func (e effect) String() string { return fmt.Sprintf("%s #%d", e.name, e.n) }

// fault is an effect that fails, and how.
type fault struct {
	effect
	mode   stagetest.Mode
	cancel bool // the process is gone, and the run is cancelled instead of recovered
}

func (f fault) String() string {
	if f.cancel {
		return string(f.mode) + ", cancelled: " + f.effect.String()
	}
	return string(f.mode) + ": " + f.effect.String()
}

// faultsOf are all faults that an effect can meet.
func faultsOf(e effect) []fault {
	all := []fault{{effect: e, mode: stagetest.DiesAfter, cancel: true}}
	for _, mode := range stagetest.Modes() {
		all = append(all, fault{effect: e, mode: mode})
	}
	return all
}

func (f fault) dies() bool { return f.mode == stagetest.DiesBefore || f.mode == stagetest.DiesAfter }

// effects counts what one process does and makes one effect of it fail. After a fault that ends the process, nothing
// that the process tries has any effect.
type effects struct {
	fault  fault
	struck func() // called when the fault strikes
	die    func() // called when it ends the process

	mu    sync.Mutex
	seen  map[string]int
	trace []effect
	hit   bool
	dead  bool
}

// errInjected is the cause of every error that a fault gives back.
var errInjected = fmt.Errorf("injected fault: %w", stage.ErrUnreachable)

// Effect implements stagetest.Effects.
func (e *effects) Effect(name string, do func() error) error {
	mode, err := e.begin(name)
	switch {
	case err != nil:
		return err
	case mode == "":
		return do()
	}
	if mode == stagetest.Lost || mode == stagetest.DiesAfter {
		if err := do(); err != nil {
			return fmt.Errorf("the effect that was to strike failed by itself: %w", err)
		}
	}
	defer e.struck()
	if mode == stagetest.NotDone || mode == stagetest.Lost {
		return fmt.Errorf("%s: %w", name, errInjected)
	}
	e.mu.Lock()
	e.dead = true
	e.mu.Unlock()
	e.die()
	return stagetest.ErrDied
}

// begin counts an effect and says how it is to fail: "" not at all.
func (e *effects) begin(name string) (stagetest.Mode, error) {
	name = plain(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead {
		return "", stagetest.ErrDied
	}
	e.seen[name]++
	this := effect{name, e.seen[name]}
	e.trace = append(e.trace, this)
	if this != e.fault.effect {
		return "", nil
	}
	e.hit = true
	return e.fault.mode, nil
}

// Alive implements stagetest.Effects.
func (e *effects) Alive() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead {
		return stagetest.ErrDied
	}
	return nil
}

// didStrike says whether the fault has struck.
func (e *effects) didStrike() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hit
}

// all lists the effects that were begun.
func (e *effects) all() []effect {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.trace)
}

// random is what differs between two runs of the same: ids and tokens, names of drafts, and the cell's own job.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\.draft-[A-Z0-9]+|CELL_[0-9]+`)

func plain(name string) string { return random.ReplaceAllString(name, "*") }

// sends counts how often a publish statement was sent, over all processes of a lane, by its tag: a run and its attempt.
type sends struct {
	mu    sync.Mutex
	byTag map[string]int
}

func (s *sends) add(tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byTag[tag]++
}

// of lists how often each attempt of a run has sent.
func (s *sends) of(run string) (counts []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, n := range s.byTag {
		if strings.Contains(tag, run) {
			counts = append(counts, n)
		}
	}
	return counts
}

// faultyWarehouse is a warehouse whose effects go through a process's: whatever makes, drops, opens, closes, sends.
type faultyWarehouse struct {
	publish.Warehouse
	effects *effects
	sent    *sends
}

// effect has an effect, with an error that says what a broken connection says.
func (w *faultyWarehouse) effect(name string, do func() error) error {
	err := w.effects.Effect("warehouse "+name, do)
	if errors.Is(err, errInjected) {
		err = fmt.Errorf("%w: %w", publish.ErrUnreachable, err)
	}
	return err
}

func (w *faultyWarehouse) Create(ctx context.Context, t publish.Target) error {
	return w.effect("create", func() error { return w.Warehouse.Create(ctx, t) })
}

func (w *faultyWarehouse) Stage(ctx context.Context, s publish.Staging) error {
	return w.effect("stage", func() error { return w.Warehouse.Stage(ctx, s) })
}

func (w *faultyWarehouse) Unstage(ctx context.Context, s publish.Staging) error {
	return w.effect("unstage", func() error { return w.Warehouse.Unstage(ctx, s) })
}

func (w *faultyWarehouse) Fence(ctx context.Context, h publish.Handle) error {
	return w.effect("fence", func() error { return w.Warehouse.Fence(ctx, h) })
}

func (w *faultyWarehouse) Observe(ctx context.Context, t publish.Target) (publish.Evidence, error) {
	if err := w.effects.Alive(); err != nil {
		return publish.Evidence{}, err
	}
	return w.Warehouse.Observe(ctx, t)
}

func (w *faultyWarehouse) Measure(ctx context.Context, in publish.Scope, ms []extract.Measure) ([]extract.Metric, error) {
	if err := w.effects.Alive(); err != nil {
		return nil, err
	}
	return w.Warehouse.Measure(ctx, in, ms)
}

func (w *faultyWarehouse) Open(ctx context.Context, tag string) (publish.Session, error) {
	var s publish.Session
	err := w.effect("open", func() (err error) {
		s, err = w.Warehouse.Open(ctx, tag)
		return err
	})
	if err != nil {
		return nil, err // opened or not, nobody has it
	}
	return &faultySession{Session: s, warehouse: w}, nil
}

type faultySession struct {
	publish.Session
	warehouse *faultyWarehouse
}

func (s *faultySession) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (result publish.Result, err error) {
	if err := s.warehouse.effects.Alive(); err != nil {
		return publish.Result{Rows: -1}, err
	}
	s.warehouse.sent.add(p.Tag)
	err = s.warehouse.effect("publish", func() (err error) {
		result, err = s.Session.Publish(ctx, p, report)
		return err
	})
	if errors.Is(err, errInjected) {
		return publish.Result{Rows: -1}, fmt.Errorf("%w: %w", publish.ErrUnknown, err)
	}
	return result, err
}

func (s *faultySession) Close(ctx context.Context) error {
	return s.warehouse.effect("close", func() error { return s.Session.Close(ctx) })
}
