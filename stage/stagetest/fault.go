// Package stagetest holds the conformance suite that every stage.Store passes, and a store that fails where it
// is told to, which drives crash matrices.
package stagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/loadctl/loadctl/stage"
)

// ErrDied is what every call on a FaultStore returns once its process counts as dead.
var ErrDied = errors.New("process died")

// Mode is how an effect fails.
type Mode string

// Modes. A caller sees the same error of the first two, and must do right by both.
const (
	NotDone    Mode = "not done"    // an error, and nothing has happened
	Lost       Mode = "lost"        // an error, and it has happened
	DiesBefore Mode = "dies before" // the process is gone; nothing has happened
	DiesAfter  Mode = "dies after"  // the process is gone; it has happened
)

// Modes are all of them.
func Modes() []Mode { return []Mode{NotDone, Lost, DiesBefore, DiesAfter} }

// Fault is one effect that fails, counted from 1 in the order in which effects begin.
type Fault struct {
	At   int
	Mode Mode
}

// Effects is asked about every effect before it is had.
type Effects interface {
	// Effect carries out one effect, or has it fail; Alive is an error once the process counts as dead.
	Effect(name string, do func() error) error
	Alive() error
}

// Through wraps a store so that each effect on it (everything that changes it: create, the first write to a file,
// close, mkdir, rename, remove) goes through e. Reads work until the process is dead.
func Through(s stage.Store, e Effects) stage.Store { return &faultStore{Store: s, effects: e} }

// FaultStore counts the effects on a store and makes one of them fail.
type FaultStore struct {
	stage.Store
	counted *counter
}

// NewFaultStore wraps a store; the zero Fault only counts.
func NewFaultStore(s stage.Store, f Fault) *FaultStore {
	c := &counter{fault: f}
	return &FaultStore{Through(s, c), c}
}

// Trace lists the effects that were begun.
func (f *FaultStore) Trace() []string {
	f.counted.mu.Lock()
	defer f.counted.mu.Unlock()
	return append([]string(nil), f.counted.trace...)
}

// counter is the effects of one process of which one fails, by its number.
type counter struct {
	fault Fault

	mu    sync.Mutex
	trace []string
	dead  bool
}

// Effect carries out one effect, or fails as the fault says.
func (c *counter) Effect(name string, do func() error) error {
	mode, err := c.begin(name)
	if err != nil {
		return err
	}
	if mode == NotDone || mode == DiesBefore {
		return c.fail(name, mode)
	}
	if err := do(); err != nil || mode == "" {
		return err
	}
	return c.fail(name, mode)
}

// begin counts an effect, and says how it is to fail: "" not at all.
func (c *counter) begin(name string) (Mode, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return "", ErrDied
	}
	c.trace = append(c.trace, name)
	if len(c.trace) != c.fault.At {
		return "", nil
	}
	return c.fault.Mode, nil
}

func (c *counter) fail(name string, mode Mode) error {
	if mode == NotDone || mode == Lost {
		return fmt.Errorf("%s: injected fault: %w", name, stage.ErrUnreachable)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	return ErrDied
}

// Alive is ErrDied once the fault has ended the process.
func (c *counter) Alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return ErrDied
	}
	return nil
}

// faultStore is what Through returns.
type faultStore struct {
	stage.Store
	effects Effects
}

// Create is an effect; so are the first write and the close of what it returns.
func (f *faultStore) Create(ctx context.Context, path string) (stage.File, error) {
	var file stage.File
	err := f.effects.Effect("create "+path, func() (err error) {
		file, err = f.Store.Create(ctx, path)
		return err
	})
	if err != nil && file != nil { // its answer is lost: nobody writes to it any more
		return nil, errors.Join(err, file.Abort())
	}
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, effects: f.effects, path: path}, nil
}

// Open reads a file.
func (f *faultStore) Open(ctx context.Context, path string) (stage.Content, error) {
	if err := f.effects.Alive(); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, path)
}

// Stat describes a path.
func (f *faultStore) Stat(ctx context.Context, path string) (stage.Info, error) {
	if err := f.effects.Alive(); err != nil {
		return stage.Info{}, err
	}
	return f.Store.Stat(ctx, path)
}

// List lists a directory.
func (f *faultStore) List(ctx context.Context, dir string) ([]stage.Info, error) {
	if err := f.effects.Alive(); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, dir)
}

// MkdirAll is an effect.
func (f *faultStore) MkdirAll(ctx context.Context, dir string) error {
	return f.effects.Effect("mkdir "+dir, func() error { return f.Store.MkdirAll(ctx, dir) })
}

// Rename is an effect.
func (f *faultStore) Rename(ctx context.Context, from, to string) error {
	return f.effects.Effect("rename "+from+" "+to, func() error { return f.Store.Rename(ctx, from, to) })
}

// Remove is an effect.
func (f *faultStore) Remove(ctx context.Context, path string) error {
	return f.effects.Effect("remove "+path, func() error { return f.Store.Remove(ctx, path) })
}

// faultFile is used by one goroutine.
type faultFile struct {
	stage.File
	effects Effects
	path    string
	begun   bool
}

func (f *faultFile) Write(p []byte) (n int, err error) {
	if f.begun {
		if err := f.effects.Alive(); err != nil {
			return 0, err
		}
		return f.File.Write(p)
	}
	f.begun = true
	err = f.effects.Effect("write "+f.path, func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *faultFile) Close() error {
	return f.effects.Effect("close "+f.path, f.File.Close)
}

// Abort of a dead process does nothing.
func (f *faultFile) Abort() error {
	if err := f.effects.Alive(); err != nil {
		return err
	}
	return f.File.Abort()
}
