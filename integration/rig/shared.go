package rig

import (
	"context"
	"path/filepath"
	"time"
)

// TB is what the rig uses of testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// sharedPatience bounds a test's wait for the stack: a first start with all downloads, and the tests of another package
// that have it to themselves.
const sharedPatience = 8 * time.Minute

// Shared returns the stack that all tests share, with all parts, and starts it where it does not run. It fails the
// test when it cannot. The test has its use until it ends; tests that break the stack (Exclusive) wait for that.
func Shared(t TB) *Stack {
	t.Helper()
	return SharedParts(t, All)
}

// SharedParts is Shared for a test that needs only some parts.
func SharedParts(t TB, parts Part) *Stack {
	t.Helper()
	return use(t, Options{Parts: parts}, shared)
}

// SharedWith is Shared for another variant, which tests share as well.
func SharedWith(t TB, opt Options) *Stack {
	t.Helper()
	return use(t, opt, shared)
}

// Exclusive returns the shared stack to a test that may kill, pause and restart its daemons: it waits until no other
// test uses the stack, keeps others out until the test ends, and leaves it healed. A test that holds the stack already
// (by Shared) must not ask for it: it would wait for itself.
func Exclusive(t TB, opt Options) *Stack {
	t.Helper()
	s := use(t, opt, exclusive)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sharedPatience)
		defer cancel()
		if err := s.heal(ctx); err != nil {
			t.Fatalf("heal stack after test: %v", err)
		}
	})
	return s
}

// use takes the stack's use lock for the time of the test, then starts what does not run.
func use(t TB, opt Options, how int) *Stack {
	t.Helper()
	s, err := open(opt)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), sharedPatience)
	defer cancel()
	l, err := acquire(ctx, filepath.Join(s.Dir, "use.lock"), how)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	t.Cleanup(l.release)
	if s, err = Start(ctx, opt); err != nil {
		t.Fatalf("rig: %v", err)
	}
	return s
}

// heal wakes and restarts what a test left paused or dead, with all parts that ever ran in this stack.
func (s *Stack) heal(ctx context.Context) error {
	opt := s.opt
	opt.Parts = s.state.Parts | opt.Parts
	_, err := Start(ctx, opt)
	return err
}
