package ttc

import (
	"context"
	"fmt"
	"time"
)

// Session is one login. One goroutine uses it at a time.
type Session struct {
	link *link
	in   *input
	out  output
	facts
	stale []int // cursors that the server may forget
}

// Broken says whether the session is out of step or cut, and of no more use.
func (s *Session) Broken() bool { return s.in.err != nil }

// SetPatience says how long the server may be silent in the middle of a call; 0 means for ever.
func (s *Session) SetPatience(d time.Duration) { s.link.patience = d }

const fnLogoff = 0x09

// goodbye is how long a server may take to answer a log-off.
const goodbye = time.Second

// Close ends the session, politely unless it is broken or a result is under way.
func (s *Session) Close() error {
	if s.in.err == nil {
		s.link.patience = goodbye
		s.out.reset()
		s.out.function(fnLogoff)
		if s.send() == nil && s.in.message() == msgStatus {
			// The answer to a goodbye changes nothing.
			_ = s.link.write(packetData, []byte{0, endOfFile})
		}
		s.in.fail(errBroken)
	}
	return s.link.nc.Close()
}

// send sends the message that was built.
func (s *Session) send() error {
	if s.in.err != nil {
		return s.in.err
	}
	if err := s.link.data(s.out.b); err != nil {
		s.in.fail(err)
		return err
	}
	return nil
}

// Graces: how long a server may take to come back from an interrupt before the session is given up.
const (
	cancelGrace = 80 * time.Millisecond
	closeGrace  = 250 * time.Millisecond
)

// call runs use. When ctx ends meanwhile, what runs is broken off, and its cause is returned; the session is then back
// in step, or broken.
func (s *Session) call(ctx context.Context, use func() error) error {
	if s.in.err != nil {
		return fmt.Errorf("%w: %w", errBroken, s.in.err)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ran := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ran)
		s.link.interrupt(cancelGrace)
	})
	err := use()
	if stop() {
		return err
	}
	<-ran // else its marker might hit the next call
	s.settle()
	return context.Cause(ctx)
}

// settle reads up to the server's answer to an interrupt. What lies before is void.
func (s *Session) settle() {
	in := s.in
	for s.link.interrupted() && in.err == nil {
		if !in.void {
			in.pos = in.end
			in.fill()
			continue
		}
		for s.link.interrupted() && in.err == nil && in.void {
			if m := in.message(); m != msgEnd {
				in.confused("message %d in answer to an interrupt", m)
				return
			}
			s.end()
		}
	}
}
