package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPoll is how often a held lock is tried again: flock cannot be waited for together with a context.
const lockPoll = 50 * time.Millisecond

// A lock is an advisory lock on a file. The kernel drops it when its holder dies, so no crash leaves one behind;
// daemons do not inherit it (Go opens files close-on-exec).
type lock struct{ file *os.File }

// shared and exclusive say how a lock is held.
const (
	shared    = syscall.LOCK_SH
	exclusive = syscall.LOCK_EX
)

// acquire waits for the lock file at path until ctx ends. Two acquisitions exclude each other inside one process too.
func acquire(ctx context.Context, path string, how int) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make folder of lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return &lock{f}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("wait for lock %s, held by another process: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// release gives the lock up. The file stays: removing it would let two holders lock two files of one name.
func (l *lock) release() { l.file.Close() }
