package ledger_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

func TestComparedLetsGo(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := staged(t, l, "j")
	lines, err := l.Timelines(t.Context())
	if err != nil || !lines.Same() || lines.Current == "" || lines.ComparedAt.IsZero() {
		t.Fatalf("timelines %+v, %v, want the first one compared", lines, err)
	}
	otherTimeline(t, db)
	if now, err := l.Timelines(t.Context()); err != nil || now.Same() || now.Compared != "another/00000001" {
		t.Fatalf("timelines %+v, %v, want them to differ", now, err)
	}
	if err := l.Compared(t.Context(), "another/00000001", nil); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("comparison of an earlier timeline: %v, want ErrStale", err)
	}
	for range 2 { // a repeat changes nothing
		check(t, l.Compared(t.Context(), lines.Current, json.RawMessage(`{"marks": 3}`)))
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_event WHERE code = 'TIMELINE_COMPARED' AND detail ->> 'marks' = '3'"); n != 1 {
		t.Fatalf("%d comparisons in the audit, want one with what was found", n)
	}
	own(t, l, run.ID, ledger.Publish)
}

// A disk that was set back leaves PostgreSQL on its timeline: a person says so.
func TestDistrustClosesTheGate(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := staged(t, l, "j")
	for range 2 {
		check(t, l.Distrust(t.Context(), "alice", "the volume was restored"))
	}
	if _, err := l.Cancel(t.Context(), run.ID, "op", "x"); !errors.Is(err, ledger.ErrTimeline) {
		t.Fatalf("cancel: %v, want ErrTimeline", err)
	}
	lines, err := l.Timelines(t.Context())
	if err != nil || lines.Same() {
		t.Fatalf("timelines %+v, %v, want a comparison to be due", lines, err)
	}
	check(t, l.Compared(t.Context(), lines.Current, nil))
	own(t, l, run.ID, ledger.Publish)
}

func TestMarkThatTellsNothingNew(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	sent := armed(t, l, "a")
	first := fenced(t, l, "b")
	judge(t, l, first, ledger.NotApplied)
	must(t)(l.Resolve(t.Context(), first, word(ledger.AsRepublish)))
	next := own(t, l, first.Run, ledger.Publish).Hold
	over := verified(t, l, "c")
	otherTimeline(t, db)
	for name, m := range map[string]ledger.Mark{
		"armed, under way":      mark(sent.Hold.Run, 1, sent.Hold.Token),
		"of an earlier attempt": mark(next.Run, 1, first.Token),
		"earlier, not known":    mark(next.Run, 1, ledger.NewToken()),
		"of a run that is over": mark(over.ID, 2, ledger.NewToken()),
	} {
		before := must(t)(l.Run(t.Context(), m.Run))
		adopted, err := l.MarkFound(t.Context(), m)
		after := must(t)(l.Run(t.Context(), m.Run))
		if err != nil || adopted || after.State != before.State || after.PublishToken != before.PublishToken {
			t.Errorf("%s: %v, %v, run %s, want nothing", name, adopted, err, after.State)
		}
	}
	if n := len(alerts(t, l, over.ID, ledger.CodeLedgerMismatch)); n != 1 {
		t.Errorf("%d alerts on the run that is over, want 1: somebody must know", n)
	}
	if n := len(alerts(t, l, sent.Hold.Run, ledger.CodeLedgerMismatch)); n != 0 {
		t.Errorf("%d alerts on a mark that the ledger knows, want none", n)
	}
	id, err := ledger.NewRunID()
	check(t, err)
	if _, err := l.MarkFound(t.Context(), mark(id, 1, ledger.NewToken())); !errors.Is(err, ledger.ErrNoRun) {
		t.Errorf("mark of a run that is not known: %v, want ErrNoRun", err)
	}
	if _, err := l.MarkFound(t.Context(), ledger.Mark{Run: over.ID, Attempt: 1}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("mark without a token: %v, want ErrInvalid", err)
	}
}

// ownCluster is a server of the test's own, which can be stopped and whose data can be set back.
type ownCluster struct {
	*testing.T
	dir     string
	cluster *ledgertest.Cluster
}

func newCluster(t *testing.T) *ownCluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "ledger-pg-") // not t.TempDir: its parents are closed to the server's user
	check(t, err)
	c := &ownCluster{T: t, dir: dir}
	t.Cleanup(func() { check(t, errors.Join(ledgertest.StopCluster(dir), os.RemoveAll(dir))) })
	c.start(nil)
	return c
}

func (c *ownCluster) start(settings map[string]string) {
	c.Helper()
	cluster, err := ledgertest.StartCluster(c.dir, ledgertest.ClusterOptions{Settings: settings})
	check(c.T, err)
	c.cluster = cluster
}

func (c *ownCluster) restart() {
	c.Helper()
	check(c.T, c.cluster.Stop())
	c.start(nil)
}

func (c *ownCluster) shell(script string) {
	c.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("%s: %v: %s", script, err, out)
	}
}

// backup copies the data, with the server stopped.
func (c *ownCluster) backup() {
	c.Helper()
	check(c.T, c.cluster.Stop())
	c.shell("rm -rf backup && cp -a data backup")
	c.start(nil)
}

// restore puts the copy in the place of the data, by way of recovery: what was committed since is lost, and the server
// begins a new timeline.
func (c *ownCluster) restore() {
	c.Helper()
	check(c.T, c.cluster.Stop())
	c.shell("rm -rf data && cp -a backup data && : > data/recovery.signal && chown --reference=data data/recovery.signal")
	c.start(map[string]string{"restore_command": "false", "hot_standby": "off"}) // it answers once it has recovered
	if _, err := os.Stat(filepath.Join(c.dir, "data", "recovery.signal")); !errors.Is(err, os.ErrNotExist) {
		c.Fatalf("the server did not recover: %v", err)
	}
}

// reconnect drops the connections of before the restart: each is found broken once.
func reconnect(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	for range 20 {
		_, err := l.Now(t.Context())
		if err == nil {
			return
		}
		if !errors.Is(err, ledger.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	t.Fatal("not connected again")
}

// PostgreSQL is restarted, then loses its tail: an arm. What is played by hand elsewhere is real here.
func TestRestartAndLostTailOfARealServer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	db, err := ledgertest.MakeLedger(t.Context(), c.cluster, "ledger")
	check(t, err)
	l := db.Open(t, ledger.Config{})
	ticked(t, db)
	claim(t, l, planned(t, l, "a", 5).ID)

	c.restart()
	reconnect(t, l)
	silent(t, db)
	if s := sweep(t, l, sweeping()); s.Acted || s.Watching != "PostgreSQL was restarted" {
		t.Fatalf("swept %+v after a restart, want it only to watch", s)
	}
	if lines, err := l.Timelines(t.Context()); err != nil || !lines.Same() {
		t.Fatalf("timelines %+v, %v, want the same after a restart", lines, err)
	}
	change(t, db, "UPDATE loadctl.load_ledger SET watch_until = clock_timestamp()")
	if s := sweep(t, l, sweeping()); deeds(s) != "REISSUED" {
		t.Fatalf("swept %+v, want it to act once it has watched", s)
	}

	hold := own(t, l, staged(t, l, "b").ID, ledger.Publish).Hold
	c.backup()
	reconnect(t, l)
	check(t, l.Arm(t.Context(), hold, arming()))
	before, err := l.Timelines(t.Context())
	check(t, err)
	c.restore()
	reconnect(t, l)
	lostTail(t, l, db, hold, before)
}

// lostTail is the ledger after it has lost the arm of a publish.
func lostTail(t *testing.T, l *ledger.Ledger, db ledgertest.Database, hold ledger.Hold, before ledger.Timelines) {
	t.Helper()
	if a := attempt(t, l, hold); a.ArmedAt != nil {
		t.Fatalf("attempt %+v, want its arm lost", a)
	}
	lines, err := l.Timelines(t.Context())
	if err != nil || lines.Same() || lines.Current == before.Current || lines.Compared != before.Current {
		t.Fatalf("timelines %+v, %v, want a new one after %s", lines, err, before.Current)
	}
	silent(t, db)
	if s := sweep(t, l, sweeping()); s.Acted || s.Watching != "the ledger is on a new timeline" {
		t.Fatalf("swept %+v, want it only to watch", s)
	}
	change(t, db, "UPDATE loadctl.load_ledger SET watch_until = clock_timestamp()")
	if s := sweep(t, l, sweeping()); strings.Contains(deeds(s), "PUBLISH") || state(t, l, hold.Run) != ledger.Publishing {
		t.Fatalf("swept %+v, want the publish left alone until the marks were compared", s)
	}
	if err := l.Arm(t.Context(), hold, arming()); !errors.Is(err, ledger.ErrTimeline) {
		t.Fatalf("arm: %v, want ErrTimeline", err)
	}
	if adopted, err := l.MarkFound(t.Context(), mark(hold.Run, 1, hold.Token)); err != nil || !adopted {
		t.Fatalf("mark: %v, %v, want adopted", adopted, err)
	}
	check(t, l.Compared(t.Context(), lines.Current, nil))
	if f, err := l.Fence(t.Context(), hold, "op"); err != nil || f.NeverArmed || f.Run.State != ledger.PublishUnknown || f.Attempt.Instance != "h:10000" {
		t.Fatalf("fence: %+v, %v, want PUBLISH_UNKNOWN, with the session of the mark", f, err)
	}
	own(t, l, staged(t, l, "c").ID, ledger.Publish) // the others go on
}
