package pipeline

import (
	"context"
	"sync"
	"time"
)

// bell wakes everyone who listens, at once.
type bell struct {
	mu sync.Mutex
	ch chan struct{} // guarded by mu; closed by a ring and replaced
}

func newBell() *bell { return &bell{ch: make(chan struct{})} }

// listen returns a channel that is closed by the next ring.
func (b *bell) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}

// restBetweenRings bounds how often every returns because of rings.
const restBetweenRings = time.Second

// every waits for the next turn of something that is done every so often, and sooner when the bell rings: what it asks
// the ledger about may have changed (a run was cancelled, say). It is false when ctx ends.
func (b *bell) every(ctx context.Context, interval time.Duration) bool {
	heard := b.listen()
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-heard:
	}
	rest := time.NewTimer(min(restBetweenRings, interval))
	defer rest.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-rest.C:
		return true
	}
}
