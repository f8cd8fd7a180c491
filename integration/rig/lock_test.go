package rig

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lock")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	must := func(how int) *lock {
		t.Helper()
		l, err := acquire(canceled, path, how) // tries once
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	refused := func(how int) {
		t.Helper()
		_, err := acquire(canceled, path, how)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) {
			t.Fatalf("got %v, want a refusal that names the lock", err)
		}
	}
	one, two := must(shared), must(shared)
	refused(exclusive)
	one.release()
	refused(exclusive)
	two.release()
	alone := must(exclusive)
	refused(shared)
	refused(exclusive)
	waited := make(chan error)
	go func() {
		l, err := acquire(t.Context(), path, exclusive)
		if err == nil {
			l.release()
		}
		waited <- err
	}()
	alone.release()
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
}
