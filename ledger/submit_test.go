package ledger_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/loadctl/loadctl/ledger"
)

// together runs f n times at once and returns the errors.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func TestSubmitAtOnceMakesOneRun(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	reqs := make([]ledger.RunRequest, 64)
	for i := range reqs {
		reqs[i] = request(t, "j")
	}
	errs := together(len(reqs), func(i int) error {
		_, err := l.Submit(t.Context(), reqs[i])
		return err
	})
	var made []ledger.RunRequest
	for i, err := range errs {
		if err == nil {
			made = append(made, reqs[i])
		}
	}
	if len(made) != 1 {
		t.Fatalf("%d submits made a run, want 1: %v", len(made), errors.Join(errs...))
	}
	for i, err := range errs {
		var dup *ledger.DuplicateError
		if err != nil && (!errors.As(err, &dup) || dup.First.ID != made[0].ID || dup.First.Number != 1 || dup.First.State != ledger.Created || dup.First.Since.IsZero()) {
			t.Errorf("submit %d: %v, want DUPLICATE_ACTIVE_RUN with run %s", i, err, made[0].ID)
		}
	}
	runs, err := l.List(t.Context(), ledger.Filter{})
	check(t, err)
	if len(runs) != 1 || runs[0].Seq != 0 {
		t.Fatalf("runs %+v, want one, untouched", runs)
	}
	if due, err := l.DueSteps(t.Context(), ledger.DueRequest{Limit: 100}); err != nil || len(due) != 1 {
		t.Fatalf("due %v, %v, want one PLAN", due, err)
	}
}

func TestTwoJobsOneTarget(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	reqs := []ledger.RunRequest{request(t, "a"), request(t, "b")}
	reqs[1].TargetID = reqs[0].TargetID
	errs := together(2, func(i int) error {
		_, err := l.Submit(t.Context(), reqs[i])
		return err
	})
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("errors %v, want exactly one", errs)
	}
	busy := errors.Join(errs...)
	if !errors.Is(busy, ledger.ErrTargetBusy) || errors.Is(busy, ledger.ErrDuplicate) {
		t.Fatalf("error %v, want TARGET_BUSY", busy)
	}
	runs, err := l.List(t.Context(), ledger.Filter{Active: true})
	check(t, err)
	must(t)(l.Cancel(t.Context(), runs[0].ID, "op", "no"))
	for i, err := range errs {
		if err != nil {
			must(t)(l.Submit(t.Context(), reqs[i])) // free again
		}
	}
}

func TestSubmitRepeatedById(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	req := request(t, "j")
	first := must(t)(l.Submit(t.Context(), req))
	again := must(t)(l.Submit(t.Context(), req))
	if again.ID != first.ID || again.Number != first.Number || again.Seq != 0 {
		t.Fatalf("repeat made %+v, want the recorded %+v", again, first)
	}
	req.Digest = "other"
	if _, err := l.Submit(t.Context(), req); !errors.Is(err, ledger.ErrConflict) {
		t.Fatalf("same id, other job: %v, want ErrConflict", err)
	}
	if string(again.Spec) != `{"job": "x"}` {
		t.Fatalf("job read back as %s, want it as it was", again.Spec)
	}
}

func TestSubmitRefusesNonsense(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	for name, spoil := range map[string]func(*ledger.RunRequest){
		"not v7":        func(r *ledger.RunRequest) { r.ID = ledger.NewToken() },
		"no job":        func(r *ledger.RunRequest) { r.Job = "" },
		"no sessions":   func(r *ledger.RunRequest) { r.MaxSessions = 0 },
		"path upwards":  func(r *ledger.RunRequest) { r.AttemptRoot = "../x" },
		"path unclean":  func(r *ledger.RunRequest) { r.AttemptRoot = "/a//b" },
		"spec not JSON": func(r *ledger.RunRequest) { r.Spec = []byte("{") },
	} {
		req := request(t, "j")
		spoil(&req)
		if _, err := l.Submit(t.Context(), req); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
