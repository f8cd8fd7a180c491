package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
)

// shortSoak is how long the soak goes on unless LOADCTL_SOAK_SECONDS says otherwise (make soak SECONDS=…).
const shortSoak = 20 * time.Second

// quietTimeout bounds the wait for every run to be over once there are no more faults.
const quietTimeout = 3 * time.Minute

// TestSoak has several daemons, as processes of the system, do a stream of runs of several jobs, while they are killed
// and paused beyond their leases, PostgreSQL is restarted, and connections to it and to the source are cut and stalled,
// all by LOADCTL_TEST_SEED (printed; it repeats what is done, not what it meets). Other sessions change the table
// before every run. After each run the target must be the source at the run's SCN, or what it was before if the run says
// that it failed; in the end nothing may be under way, the ledger be legal, and no attempt have been armed
// twice without a resolution. It prints how much of all that there was, and how long recovery took.
func TestSoak(t *testing.T) {
	length := soakLength(t)
	s := newSoak(t, rand.New(rand.NewPCG(seed(t), 0)))
	end := time.Now().Add(length)
	var work sync.WaitGroup
	for i := range soakJobs {
		work.Go(func() { s.stream(t, i, end) })
	}
	watched, stop := context.WithCancel(t.Context())
	defer stop()
	var watch sync.WaitGroup
	watch.Go(func() { s.recoveries.watch(watched, s) })
	s.harm(t, end)
	s.heal(t)
	work.Wait()
	s.wantRecovered(t)
	stop()
	watch.Wait()
	wantLegalLedger(t, s.w)
	s.wantArmedOnce(t)
	s.wantTargets(t)
	s.report(t, length)
}

func soakLength(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("LOADCTL_SOAK_SECONDS")
	if text == "" {
		return shortSoak
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("LOADCTL_SOAK_SECONDS=%q: want a number of seconds", text)
	}
	return time.Duration(n) * time.Second
}

// soakJobs is how many jobs, each with its target, are run over and over.
const soakJobs = 4

// jobState is what is known of one job and its target.
type jobState struct {
	number   int      // of its newest run that is over
	lines    []string // what its target should hold
	failures map[string]int
	success  int
}

func soakJob(i int) string    { return fmt.Sprintf("SOAK_%d", i) }
func soakTable(i int) string  { return fmt.Sprintf("soak_%d", i) }
func soakHandle(i int) string { return soakJob(i) + "/" + scenario.Date }

// stream runs one job again and again. It ends after the run that is under way at the end.
func (s *soak) stream(t *testing.T, i int, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		change := fmt.Sprintf("UPDATE APP.INSP_DTL SET AMOUNT = AMOUNT + 1 WHERE SEQ BETWEEN %d AND %d", 100*i+n%90, 100*i+n%90+9)
		if err := s.w.Write(t.Context(), change); err != nil {
			t.Errorf("change the table: %v", err)
			return
		}
		s.loadctl(t, "run", "--job", soakJob(i), "--date", scenario.Date, "--detach") // its answer may be lost: the ledger tells
		run, err := s.over(t.Context(), i)
		switch {
		case errors.Is(err, ledger.ErrNoRun): // none was made, ever
		case err != nil:
			t.Errorf("%s: %v", soakHandle(i), err)
			return
		case run.Number > s.jobs[i].number:
			if err := s.settle(i, run); err != nil {
				t.Errorf("%s (%s): %v", run.Handle(), run.ID, err)
			}
		}
	}
}

// over waits until the newest run of a job is over.
func (s *soak) over(ctx context.Context, i int) (ledger.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, quietTimeout+s.length)
	defer cancel()
	for {
		run, err := s.ledger.Find(ctx, soakHandle(i))
		switch {
		case ctx.Err() != nil:
			return run, fmt.Errorf("it never was over: it is %s (%s), %w", run.State, run.Message, ctx.Err())
		case err == nil && !run.State.Active(), errors.Is(err, ledger.ErrNoRun):
			return run, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// settle looks whether a run that is over left its target as it says.
func (s *soak) settle(i int, run ledger.Run) error {
	j := &s.jobs[i]
	j.number = run.Number
	if run.State == ledger.Success {
		want, err := s.w.Image(run.SCN)
		if err != nil {
			return err
		}
		j.success, j.lines = j.success+1, want
	} else {
		j.failures[string(run.State)+" "+run.Class]++
		if run.Message == "" && run.Class == "" {
			return fmt.Errorf("it is %s and does not say why", run.State)
		}
		if run.State == ledger.FailedTarget || run.TargetDamaged {
			return fmt.Errorf("it is %s (%s): nothing that was done could damage a target", run.State, run.Message)
		}
	}
	return s.compare(i)
}

// compare compares a target with what it should hold.
func (s *soak) compare(i int) error {
	got, err := s.w.TableLines(soakTable(i))
	if err != nil {
		return err
	}
	lost, doubled := count(s.jobs[i].lines, got)
	s.lost.Add(int64(lost))
	s.doubled.Add(int64(doubled))
	if lost+doubled > 0 {
		return fmt.Errorf("the target is not what it should be: %d rows lost, %d too many: %s", lost, doubled, scenario.Difference(s.jobs[i].lines, got))
	}
	return nil
}

// count tells how many rows of want are not in got, and how many of got are not in want, each as often as it comes.
func count(want, got []string) (lost, more int) {
	n := map[string]int{}
	for _, line := range want {
		n[line]++
	}
	for _, line := range got {
		n[line]--
	}
	for _, d := range n {
		lost += max(d, 0)
		more += max(-d, 0)
	}
	return lost, more
}

// wantTargets compares every target once more, now that whoever was paused has come back.
func (s *soak) wantTargets(t *testing.T) {
	t.Helper()
	for i := range s.jobs {
		if err := s.compare(i); err != nil {
			t.Errorf("in the end, %s: %v", soakJob(i), err)
		}
		if s.jobs[i].success == 0 {
			t.Errorf("no run of %s succeeded: the soak shows nothing of it", soakJob(i))
		}
	}
}

// wantArmedOnce checks that no run was allowed to send a second statement but by the word of whoever resolved the first.
func (s *soak) wantArmedOnce(t *testing.T) {
	t.Helper()
	var n, runs int
	err := s.admin.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE armed > 1 + again), count(*) FROM (
		SELECT count(*) FILTER (WHERE armed_at IS NOT NULL) AS armed, count(*) FILTER (WHERE resolved_as = 'republish') AS again
		  FROM loadctl.load_publish GROUP BY run_id) p`).Scan(&n, &runs)
	if err != nil {
		t.Fatal(err)
	}
	if n != 0 || runs == 0 {
		t.Errorf("%d of %d runs were armed again without a resolution", n, runs)
	}
}

// wantRecovered waits until every run that met a fault went on.
func (s *soak) wantRecovered(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(quietTimeout)
	for s.recoveries.open() > 0 {
		if time.Now().After(deadline) {
			t.Errorf("%d runs did not go on after their faults", s.recoveries.open())
			return
		}
		time.Sleep(50 * time.Millisecond) // what is waited for is another process's
	}
}

// report prints the figures.
func (s *soak) report(t *testing.T, length time.Duration) {
	t.Helper()
	runs, success := 0, 0
	failures := map[string]int{}
	for _, j := range s.jobs {
		success += j.success
		runs += j.success
		for what, n := range j.failures {
			failures[what] += n
			runs += n
		}
	}
	faults := 0
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.faults)) {
		faults += s.faults[kind]
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, s.faults[kind]))
	}
	times := s.recoveries.times()
	if faults == 0 || len(times) == 0 {
		t.Fatalf("%d faults, %d recoveries: the soak shows nothing", faults, len(times))
	}
	at := func(q float64) time.Duration {
		return times[min(int(q*float64(len(times))), len(times)-1)].Round(10 * time.Millisecond)
	}
	t.Logf("%s: %d runs (%d succeeded, others %v), %d faults %v, %d recoveries (median %s, p99 %s, longest %s), lost %d, doubled %d",
		length, runs, success, failures, faults, kinds, len(times), at(0.5), at(0.99), times[len(times)-1].Round(10*time.Millisecond), s.lost.Load(), s.doubled.Load())
}
