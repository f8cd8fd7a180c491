package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// sweeping are the options of the tests: nothing is stale but what ago made so.
func sweeping() ledger.SweepOptions {
	return ledger.SweepOptions{Interval: time.Minute, Stale: time.Minute, PublishStale: 2 * time.Minute}
}

// settled is a database whose sweeper has ticked just before and is not watching.
func settled(t *testing.T, cfg ledger.Config) (*ledger.Ledger, ledgertest.Database) {
	t.Helper()
	db := openDB(t)
	l := db.Open(t, cfg)
	ticked(t, db)
	return l, db
}

// ticked makes the ledger remember a tick of just now, on this server and timeline.
func ticked(t *testing.T, db ledgertest.Database) {
	t.Helper()
	change(t, db, `UPDATE loadctl.load_ledger SET swept_at = clock_timestamp(), swept_by = 'test', swept_postmaster = pg_postmaster_start_time(),
  swept_timeline = loadctl.timeline(), watch_until = NULL`)
}

// silent makes all workers, owners and publishers silent since an hour ago.
func silent(t *testing.T, db ledgertest.Database) {
	t.Helper()
	change(t, db, "UPDATE loadctl.load_partition SET heartbeat_at = clock_timestamp() - interval '1 h', lease_until = clock_timestamp() - interval '59 min' WHERE state = 'RUNNING'")
	change(t, db, "UPDATE loadctl.load_slot SET lease_until = clock_timestamp() - interval '59 min' WHERE token IS NOT NULL")
	change(t, db, "UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() - interval '59 min' WHERE step IS NOT NULL")
}

// sweep is one tick that has to succeed.
func sweep(t *testing.T, l *ledger.Ledger, o ledger.SweepOptions) ledger.Swept {
	t.Helper()
	s, err := l.Sweep(t.Context(), o)
	check(t, err)
	return s
}

// deeds are the words of what a sweep did.
func deeds(s ledger.Swept) string {
	var words []string
	for _, d := range s.Deeds {
		words = append(words, d.What)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func state(t *testing.T, l *ledger.Ledger, run uuid.UUID) ledger.State {
	t.Helper()
	return must(t)(l.Run(t.Context(), run)).State
}

func TestSweepReissuesWhatIsSilent(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5, 5)
	c := claim(t, l, run.ID)
	check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 3)))
	if s := sweep(t, l, sweeping()); !s.Acted || len(s.Deeds) != 0 {
		t.Fatalf("swept %+v, want nothing to do", s)
	}
	silent(t, db)
	s := sweep(t, l, sweeping())
	if deeds(s) != "REISSUED" || s.Deeds[0].Run != run.ID || *s.Deeds[0].Partition != 0 || s.Deeds[0].Handle != "j/2026-09-28#1" {
		t.Fatalf("swept %+v, want partition 0 reissued", s)
	}
	if files, err := l.Files(t.Context(), run.ID); err != nil || len(files) != 0 {
		t.Fatalf("files %v, %v, want the lost attempt's void", files, err)
	}
	again := claim(t, l, run.ID)
	if again.Partition != 0 || again.Attempt != 2 || again.Token == c.Token {
		t.Fatalf("claimed %+v, want partition 0 again under a new token", again)
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_slot WHERE token IS NOT NULL"); n != 1 {
		t.Fatalf("%d sessions held, want one", n)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.SCN != run.SCN {
		t.Fatalf("SCN %s, want the same %s", r.SCN, run.SCN)
	}
}

func TestSweepEndsWhatHasNoAttemptsLeft(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5, 5)
	for attempt := 1; attempt <= 3; attempt++ {
		claim(t, l, run.ID)
		silent(t, db)
		s := sweep(t, l, sweeping())
		if want := map[bool]string{true: "FAILED", false: "REISSUED"}[attempt == 3]; deeds(s) != want {
			t.Fatalf("attempt %d: swept %+v, want %s", attempt, s, want)
		}
	}
	r := must(t)(l.Run(t.Context(), run.ID))
	if r.State != ledger.FailedExtract || r.Class != "LEASE_LOST" || !strings.HasPrefix(r.Message, "partition 0, attempt 3 of 3: w was last heard of at ") {
		t.Fatalf("run is %s [%s]: %s", r.State, r.Class, r.Message)
	}
	if got := ask[string](t, db, "SELECT string_agg(state, ' ' ORDER BY idx) FROM loadctl.load_partition"); got != "FAILED VOID" {
		t.Fatalf("partitions %s, want FAILED VOID", got)
	}
}

func TestSweepFailsTheRunWhereThatIsTheMode(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5, 5)
	c := claim(t, l, run.ID)
	silent(t, db)
	o := sweeping()
	o.Mode = ledger.ModeFail
	if s := sweep(t, l, o); deeds(s) != "FAILED" || state(t, l, run.ID) != ledger.FailedExtract {
		t.Fatalf("swept %+v, want the run failed", s)
	}
	for name, err := range map[string]error{
		"chunk": l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 5)),
		"finish": func() error {
			_, err := l.FinishPartition(t.Context(), c.Held, ledger.FinishReport{Rows: 5})
			return err
		}(),
		"fail": second(l.FailPartition(t.Context(), c.Held, ledger.Failure{Event: ledger.EventExtractFailed})),
	} {
		if !errors.Is(err, ledger.ErrClaimMismatch) {
			t.Errorf("late %s: %v, want CLAIM_MISMATCH", name, err)
		}
	}
}

func TestSweepTimesOutWhereTheTableAllows(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	runs := map[ledger.State]ledger.Run{
		ledger.Created: submit(t, l, "a"), ledger.Extracting: planned(t, l, "b", 1), ledger.ExtractedValidated: extracted(t, l, "c"),
		ledger.StagingValidated: staged(t, l, "d"), ledger.Publishing: must(t)(l.Run(t.Context(), armed(t, l, "e").Hold.Run)), ledger.Published: published(t, l, "f"),
		ledger.StageValidating: own(t, l, extracted(t, l, "g").ID, ledger.ValidateStage).Run,
	}
	o := armed(t, l, "h")
	runs[ledger.PublishUnknown] = must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishUnknown}))
	change(t, db, "UPDATE loadctl.load_run SET created_at = clock_timestamp() - interval '2 h'")
	first := sweep(t, l, sweeping())
	if want := "OVERDUE OVERDUE OVERDUE TIMED_OUT TIMED_OUT TIMED_OUT TIMED_OUT TIMED_OUT"; deeds(first) != want {
		t.Fatalf("swept %s, want %s", deeds(first), want)
	}
	if s := sweep(t, l, sweeping()); len(s.Deeds) != 0 {
		t.Fatalf("swept %+v again, want one alert a state", s)
	}
	for was, run := range runs {
		r := must(t)(l.Run(t.Context(), run.ID))
		_, err := ledger.Next(was, ledger.EventTimeout)
		switch {
		case err == nil && (r.State != ledger.TimedOut || r.Class != "TIMED_OUT" || r.Message != "past its time limit in "+string(was)):
			t.Errorf("%s: run is %s [%s] %s, want TIMED_OUT", was, r.State, r.Class, r.Message)
		case err != nil && (r.State != was || len(alerts(t, l, r.ID, ledger.CodeOverdue)) != 1):
			t.Errorf("%s: run is %s, alerts %v, want it to stay, with one alert", was, r.State, alerts(t, l, r.ID, ledger.CodeOverdue))
		}
	}
}

func TestSweepFreesSteps(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{DispatchAttempts: 2})
	run := extracted(t, l, "j")
	first := own(t, l, run.ID, ledger.ValidateStage)
	silent(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "STEP_RELEASED" {
		t.Fatalf("swept %+v, want the step released", s)
	}
	staleCalls(t, l, first.Hold)
	own(t, l, run.ID, ledger.ValidateStage)
	silent(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "STEP_DEAD" {
		t.Fatalf("swept %+v, want the dispatch dead", s)
	}
	dead := alerts(t, l, run.ID, ledger.CodeDispatchDead)
	if len(dead) != 1 || dead[0].Class != "LEASE_LOST" || state(t, l, run.ID) != ledger.StageValidating {
		t.Fatalf("alerts %+v, run %s, want one LEASE_LOST and the run where it was", dead, state(t, l, run.ID))
	}
}

func TestSweepGivesPublishesUp(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	unarmed, sent := own(t, l, staged(t, l, "a").ID, ledger.Publish), armed(t, l, "b")
	change(t, db, "UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() - interval '1 min' WHERE step IS NOT NULL")
	if s := sweep(t, l, sweeping()); len(s.Deeds) != 0 {
		t.Fatalf("swept %+v, want a publisher to be waited for", s)
	}
	silent(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "PUBLISH_BACK PUBLISH_UNKNOWN" {
		t.Fatalf("swept %+v, want one back and one unknown", s)
	}
	if got := state(t, l, unarmed.Hold.Run); got != ledger.StagingValidated {
		t.Errorf("never armed: run is %s, want STAGING_VALIDATED", got)
	}
	if got := state(t, l, sent.Hold.Run); got != ledger.PublishUnknown || len(alerts(t, l, sent.Hold.Run, ledger.CodePublishUnknown)) != 1 {
		t.Errorf("armed: run is %s, want PUBLISH_UNKNOWN with an alert", got)
	}
	n := int64(30)
	for name, err := range map[string]error{
		"arm":       l.Arm(t.Context(), unarmed.Hold, arming()),
		"published": second(l.PublishResult(t.Context(), sent.Hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n})),
	} {
		if !errors.Is(err, ledger.ErrStale) {
			t.Errorf("late %s: %v, want ErrStale", name, err)
		}
	}
}

func TestSweepCompletesAndFreesSessions(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	makeRunning(t, db, 1)
	change(t, db, "UPDATE loadctl.load_partition SET state = 'SUCCESS', finished_at = now(), ended_at = now(), chunks = 1, rows_read = expected_rows")
	if ok, err := l.TakeSlot(t.Context(), "src", 1, ledger.NewToken(), lease); err != nil || !ok {
		t.Fatalf("take a session: %v, %v", ok, err)
	}
	silent(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "COMPLETED SESSIONS_FREED" {
		t.Fatalf("swept %+v, want the run completed and the session freed", s)
	}
	if got := state(t, l, running(1, 0).Run); got != ledger.ExtractedValidated {
		t.Fatalf("run is %s, want EXTRACTED_VALIDATED", got)
	}
}

func TestSweepOnlyWatchesAfterAnOutage(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5)
	claim(t, l, run.ID)
	for name, set := range map[string]string{
		"nobody has swept this ledger before": "swept_at = NULL",
		"nobody has swept since":              "swept_at = clock_timestamp() - interval '3 min'",
		"PostgreSQL was restarted":            "swept_postmaster = swept_postmaster - interval '1 s'",
		"the ledger is on a new timeline":     "swept_timeline = 'another/00000001'",
	} {
		ticked(t, db)
		silent(t, db)
		change(t, db, "UPDATE loadctl.load_ledger SET "+set)
		s := sweep(t, l, sweeping())
		if s.Acted || !strings.HasPrefix(s.Watching, name) || len(s.Deeds) != 0 || time.Until(s.Until) < 30*time.Second {
			t.Errorf("%s: swept %+v, want it only to watch for a minute", name, s)
		}
		if s := sweep(t, l, sweeping()); s.Acted || s.Watching != "as before" {
			t.Errorf("%s: swept %+v, want it to go on watching", name, s)
		}
	}
	change(t, db, "UPDATE loadctl.load_ledger SET watch_until = clock_timestamp()")
	if s := sweep(t, l, sweeping()); !s.Acted || deeds(s) != "REISSUED" {
		t.Errorf("swept %+v, want it to act once it has watched", s)
	}
}

func TestSweepRefusesNonsense(t *testing.T) {
	t.Parallel()
	l, _ := settled(t, ledger.Config{})
	for name, spoil := range map[string]func(*ledger.SweepOptions){
		"no interval": func(o *ledger.SweepOptions) { o.Interval = 0 },
		"no stale":    func(o *ledger.SweepOptions) { o.Stale = 0 },
		"mode":        func(o *ledger.SweepOptions) { o.Mode = "MAYBE" },
	} {
		o := sweeping()
		spoil(&o)
		if _, err := l.Sweep(t.Context(), o); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// Two sweepers, who have both found the same partition, and its worker's heartbeat meet: it is reissued once or not at
// all, and the heartbeat is told which.
func TestSweepersAgainstALateHeartbeat(t *testing.T) {
	t.Parallel()
	const runs = 40
	l, db := settled(t, ledger.Config{MaxConns: 8})
	makeRunning(t, db, runs)
	change(t, db, "INSERT INTO loadctl.load_slot (source, n, token, run_id, holder, lease_until) SELECT 's', row_number() OVER (), token, run_id, 'w', lease_until FROM loadctl.load_partition")
	outcomes := map[bool]int{}
	for g := 1; g <= runs; g++ {
		held := running(g, 0)
		change(t, db, "UPDATE loadctl.load_partition SET heartbeat_at = now() - interval '1 h', lease_until = now() - interval '1 h' WHERE run_id = $1 AND idx = 0", held.Run)
		var decide [2]func() (ledger.Swept, error)
		for i := range decide {
			var err error
			decide[i], err = l.SweepFound(t.Context(), sweeping())
			check(t, err)
		}
		var beat ledger.Beat
		check(t, errors.Join(together(3, func(i int) (err error) {
			if i < 2 {
				if _, err = decide[i](); errors.Is(err, ledger.ErrSweeping) {
					err = nil
				}
				return err
			}
			beat, err = l.Heartbeat(t.Context(), held, 1, lease)
			return err
		})...))
		got := ask[string](t, db, "SELECT state || attempts FROM loadctl.load_partition WHERE run_id = $1 AND idx = 0", held.Run)
		events := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_event WHERE run_id = $1 AND code = 'REISSUED'", held.Run)
		if beat.Owned && (got != "RUNNING1" || events != 0) || !beat.Owned && (got != "RETRY1" || events != 1) {
			t.Fatalf("run %d: heartbeat owned %v, partition %s, reissued %d times", g, beat.Owned, got, events)
		}
		outcomes[beat.Owned]++
	}
	t.Logf("heartbeats that came first: %d of %d", outcomes[true], runs)
}

// Between the moment when a sweeper has found a partition and the moment when it decides, anything may happen to it.
func TestSweepDecidesByWhatItFindsUnderItsLocks(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*testing.T, *ledger.Ledger, ledger.Claim){
		"heartbeat": func(t *testing.T, l *ledger.Ledger, c ledger.Claim) {
			if b, err := l.Heartbeat(t.Context(), c.Held, 1, lease); err != nil || !b.Owned {
				t.Fatalf("heartbeat %+v, %v", b, err)
			}
		},
		"finish": func(t *testing.T, l *ledger.Ledger, c ledger.Claim) { extract(t, l, c) },
		"finish that waits for its count": func(t *testing.T, l *ledger.Ledger, c ledger.Claim) {
			check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 4)))
			_, err := l.FinishPartition(t.Context(), c.Held, ledger.FinishReport{Chunks: 1, Rows: 4})
			check(t, err)
		},
		"cancel": func(t *testing.T, l *ledger.Ledger, c ledger.Claim) { must(t)(l.Cancel(t.Context(), c.Run, "op", "x")) },
		"sweeper": func(t *testing.T, l *ledger.Ledger, c ledger.Claim) {
			if s := sweep(t, l, sweeping()); deeds(s) != "REISSUED" {
				t.Fatalf("swept %+v", s)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, db := settled(t, ledger.Config{})
			run := planned(t, l, "j", 5, 5)
			c := claim(t, l, run.ID)
			if name == "finish that waits for its count" {
				change(t, db, "UPDATE loadctl.load_partition SET expected_rows = NULL WHERE idx = 0")
			}
			silent(t, db)
			decide, err := l.SweepFound(t.Context(), sweeping())
			check(t, err)
			between(t, l, c)
			before := snapshot(t, db)
			s, err := decide()
			if err != nil || len(s.Deeds) != 0 {
				t.Fatalf("swept %+v, %v, want nothing: it was too late", s, err)
			}
			if after := snapshot(t, db); after != before {
				t.Fatalf("the ledger is\n%s\nwas\n%s", after, before)
			}
		})
	}
}
