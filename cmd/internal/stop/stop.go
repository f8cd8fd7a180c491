// Package stop turns the signals of a process into two contexts: the first SIGINT or SIGTERM asks politely, the second
// stops at once, and the third is the operating system's own.
package stop

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// ErrSignal is the cause of both contexts. It is a cancellation to whoever asks errors.Is, also where the cause of a
// context is passed on instead of its error.
var ErrSignal = fmt.Errorf("stopped by a signal: %w", context.Canceled)

// OnSignal returns a context that ends at the first signal and one that ends at the second. release gives the signals
// back to the operating system and must be called; it waits for the goroutine that listens.
func OnSignal() (polite, hard context.Context, release func()) {
	polite, ask := context.WithCancelCause(context.Background())
	hard, end := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for _, cancel := range []context.CancelCauseFunc{ask, end} {
			select {
			case <-got:
				cancel(ErrSignal)
			case <-over:
				return
			}
		}
		signal.Stop(got) // the third one kills
	}()
	return polite, hard, func() {
		signal.Stop(got)
		close(over)
		<-done
		ask(nil)
		end(nil)
	}
}
