package stagetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/loadctl/loadctl/stage"
)

// Step is something with effects on a store that must survive a crash at each of them.
type Step struct {
	// Prepare fills a new store with what is there before.
	Prepare func(t *testing.T) stage.Store
	// Do has the effects. Done again after any end, it finishes.
	Do func(s stage.Store) error
	// Between checks what must hold at any moment, right after the fault; After what must hold once a second
	// Do has returned nil.
	Between func(t *testing.T, s stage.Store)
	After   func(t *testing.T, s stage.Store)
}

// Matrix counts the effects of a clean run, then runs the step once for each effect and Mode: it fails there,
// and is done again by another process.
func Matrix(t *testing.T, step Step) {
	t.Helper()
	s := step.Prepare(t)
	clean := NewFaultStore(s, Fault{})
	if err := step.Do(clean); err != nil {
		t.Fatalf("clean run: %v", err)
	}
	step.After(t, s)
	effects := clean.Trace()
	if len(effects) == 0 {
		t.Fatal("clean run has no effects: the matrix would prove nothing")
	}
	for i, effect := range effects {
		for _, mode := range Modes() {
			t.Run(fmt.Sprintf("%02d %s %s", i+1, mode, effect), func(t *testing.T) {
				crash(t, step, Fault{At: i + 1, Mode: mode})
			})
		}
	}
}

func crash(t *testing.T, step Step, fault Fault) {
	s := step.Prepare(t)
	err := step.Do(NewFaultStore(s, fault))
	died := fault.Mode == DiesBefore || fault.Mode == DiesAfter
	if died && !errors.Is(err, ErrDied) {
		t.Fatalf("the process died, but Do returned %v", err)
	}
	if !died && err != nil && !errors.Is(err, stage.ErrUnreachable) {
		t.Fatalf("Do returned %v; want the fault's own error or nil", err)
	}
	step.Between(t, s)
	if err := step.Do(s); err != nil {
		t.Fatalf("done again: %v", err)
	}
	step.After(t, s)
}
