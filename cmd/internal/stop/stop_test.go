package stop

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestFirstSignalAsksSecondStops(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreAnyFunction("os/signal.loop")) // one goroutine of the library's own, for good
	polite, hard, release := OnSignal()
	defer release()
	send(t, syscall.SIGTERM)
	<-polite.Done()
	if hard.Err() != nil {
		t.Fatal("the first signal ended the hard context")
	}
	if !errors.Is(context.Cause(polite), ErrSignal) || !errors.Is(context.Cause(polite), context.Canceled) {
		t.Errorf("the cause is %v", context.Cause(polite))
	}
	send(t, syscall.SIGINT)
	<-hard.Done()
}

func TestReleaseWithoutSignal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreAnyFunction("os/signal.loop"))
	polite, hard, release := OnSignal()
	release()
	if polite.Err() == nil || hard.Err() == nil {
		t.Error("the contexts live on after release")
	}
}

func send(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}
