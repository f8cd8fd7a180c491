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

// FaultStore counts the effects on a store (everything that changes it: create, the first write to a file,
// close, mkdir, rename, remove) and makes one of them fail. Reads work until the process is dead.
type FaultStore struct {
	stage.Store
	fault Fault

	mu    sync.Mutex
	trace []string
	dead  bool
}

// NewFaultStore wraps a store; the zero Fault only counts.
func NewFaultStore(s stage.Store, f Fault) *FaultStore { return &FaultStore{Store: s, fault: f} }

// Trace lists the effects that were begun.
func (f *FaultStore) Trace() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.trace...)
}

// effect carries out one effect, or fails as the fault says.
func (f *FaultStore) effect(name string, do func() error) error {
	mode, err := f.begin(name)
	if err != nil {
		return err
	}
	if mode == NotDone || mode == DiesBefore {
		return f.fail(name, mode)
	}
	if err := do(); err != nil || mode == "" {
		return err
	}
	return f.fail(name, mode)
}

// begin counts an effect, and says how it is to fail: "" not at all.
func (f *FaultStore) begin(name string) (Mode, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return "", ErrDied
	}
	f.trace = append(f.trace, name)
	if len(f.trace) != f.fault.At {
		return "", nil
	}
	return f.fault.Mode, nil
}

func (f *FaultStore) fail(name string, mode Mode) error {
	if mode == NotDone || mode == Lost {
		return fmt.Errorf("%s: injected fault: %w", name, stage.ErrUnreachable)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
	return ErrDied
}

func (f *FaultStore) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return ErrDied
	}
	return nil
}

// Create is an effect; so are the first write and the close of what it returns.
func (f *FaultStore) Create(ctx context.Context, path string) (stage.File, error) {
	var file stage.File
	err := f.effect("create "+path, func() (err error) {
		file, err = f.Store.Create(ctx, path)
		return err
	})
	if err != nil && file != nil { // its answer is lost: nobody writes to it any more
		return nil, errors.Join(err, file.Abort())
	}
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, store: f, path: path}, nil
}

// Open reads a file.
func (f *FaultStore) Open(ctx context.Context, path string) (stage.Content, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, path)
}

// Stat describes a path.
func (f *FaultStore) Stat(ctx context.Context, path string) (stage.Info, error) {
	if err := f.alive(); err != nil {
		return stage.Info{}, err
	}
	return f.Store.Stat(ctx, path)
}

// List lists a directory.
func (f *FaultStore) List(ctx context.Context, dir string) ([]stage.Info, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, dir)
}

// MkdirAll is an effect.
func (f *FaultStore) MkdirAll(ctx context.Context, dir string) error {
	return f.effect("mkdir "+dir, func() error { return f.Store.MkdirAll(ctx, dir) })
}

// Rename is an effect.
func (f *FaultStore) Rename(ctx context.Context, from, to string) error {
	return f.effect("rename "+from+" "+to, func() error { return f.Store.Rename(ctx, from, to) })
}

// Remove is an effect.
func (f *FaultStore) Remove(ctx context.Context, path string) error {
	return f.effect("remove "+path, func() error { return f.Store.Remove(ctx, path) })
}

// faultFile is used by one goroutine.
type faultFile struct {
	stage.File
	store *FaultStore
	path  string
	begun bool
}

func (f *faultFile) Write(p []byte) (n int, err error) {
	if f.begun {
		if err := f.store.alive(); err != nil {
			return 0, err
		}
		return f.File.Write(p)
	}
	f.begun = true
	err = f.store.effect("write "+f.path, func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *faultFile) Close() error {
	return f.store.effect("close "+f.path, f.File.Close)
}

// Abort of a dead process does nothing.
func (f *faultFile) Abort() error {
	if err := f.store.alive(); err != nil {
		return err
	}
	return f.File.Abort()
}
