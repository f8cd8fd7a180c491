package integration

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/proxy"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage/hdfs"
)

// settle is short: in these worlds nothing else writes the target.
const settle = 300 * time.Millisecond

// byOperator is how a person looks at a publish of unknown outcome.
var byOperator = pipeline.ReconcileOptions{Settle: settle, By: "operator@here"}

// doubt is a world with real Hive behind a proxy, in which one run has published and every further one meets a fault.
type doubt struct {
	*scenario.World
	env   *pipeline.Env // all calls to Hive go through the proxy
	proxy *proxy.Proxy
	life  time.Duration // of the statement, from the answer to ExecuteStatement to its end, when nothing goes wrong
}

func newDoubt(t *testing.T) *doubt {
	t.Helper()
	return doubtIn(t, smallHive(t, rig.Shared(t)))
}

// smallHive starts a small world on real Hive.
func smallHive(t *testing.T, stack *rig.Stack) *scenario.World {
	t.Helper()
	w, err := scenario.Start(t.Context(), scenario.Options{Dir: t.TempDir(), Postgres: cluster(t), Stack: stack, Few: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close the world: %v", err)
		}
	})
	if _, err := ledgertest.MakeLedger(t.Context(), w.Ledger.Cluster, w.Ledger.Name); err != nil { // migrates it
		t.Fatal(err)
	}
	return w
}

func doubtIn(t *testing.T, w *scenario.World) *doubt {
	t.Helper()
	h := w.Stack.Hive
	p, err := proxy.Listen(net.JoinHostPort(h.Host, strconv.Itoa(h.Port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close the proxy: %v", err)
		}
	})
	d := &doubt{World: w, proxy: p}
	d.env = d.newEnv(t)
	d.first(t)
	return d
}

// first publishes for the first time, and takes the time of the statement.
func (d *doubt) first(t *testing.T) {
	t.Helper()
	var s statement
	var began time.Time
	d.proxy.Rule(func(c proxy.Call) proxy.Fate {
		if c.Publish && c.Answered {
			began = time.Now()
		}
		if s.finished(c) {
			d.life = time.Since(began)
		}
		return proxy.Pass
	})
	run := runJob(t, d.env, d.Job(), pipeline.Submission{})
	d.proxy.Rule(nil)
	wantState(t, run, ledger.Success)
	if d.life <= 0 || d.proxy.Statements() != 1 {
		t.Fatalf("a publish took %s and %d statements: the proxy does not see them", d.life, d.proxy.Statements())
	}
}

// newEnv is the environment of another process, its Hive behind the proxy too.
func (d *doubt) newEnv(t *testing.T) *pipeline.Env {
	t.Helper()
	env := newEnv(t, d.World)
	root, err := hdfs.New(hdfs.Options{NameNodes: []string{d.Stack.HDFS.NameNode}, Root: "/", User: d.Stack.HDFS.User})
	if err != nil {
		t.Fatal(err)
	}
	h := d.Stack.Hive
	w, err := hive.New(hive.Config{Lister: root, HS2: hs2.Config{Address: d.proxy.Addr(), Auth: hs2.Auth(h.Auth), User: h.User, Password: h.Password}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.proxy.Rule(nil)
		if err := errors.Join(w.Close(), root.Close()); err != nil {
			t.Errorf("close Hive: %v", err)
		}
	})
	env.Warehouse = w
	return env
}

// change makes the table another one, so that old rows and new can be told apart by every measure.
func change(t *testing.T, w *scenario.World) {
	t.Helper()
	s, err := w.Oracle.Database().Connect(ora.Login{Service: scenario.Service, User: scenario.Owner, Program: "change"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{
		"UPDATE APP.INSP_DTL SET AMOUNT = AMOUNT + 1 WHERE SEQ <= 100",
		"INSERT INTO APP.INSP_DTL (SEQ, INSP_DT, AMOUNT, GRADE) SELECT MAX(SEQ) + 1, DATE '" + scenario.Date + "', 1, 'N' FROM APP.INSP_DTL",
	} {
		st, err := s.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.Execute(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// lines is what the target holds, read beside the proxy.
func (d *doubt) lines(t *testing.T) []string {
	t.Helper()
	lines, err := d.TargetLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// truth says what became of the target, by its rows: which no verdict looks at.
func (d *doubt) truth(t *testing.T, run ledger.Run, before []string) publish.Verdict {
	t.Helper()
	now := d.lines(t)
	image, err := d.Image(run.SCN)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case scenario.Difference(before, now) == "":
		return publish.NotApplied
	case scenario.Difference(image, now) == "":
		return publish.Applied
	}
	return publish.Damaged
}

// attempt reads the newest attempt to publish of a run.
func attempt(t *testing.T, env *pipeline.Env, run ledger.Run) ledger.Attempt {
	t.Helper()
	all, err := env.Ledger.Attempts(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Token == run.PublishToken {
			return a
		}
	}
	t.Fatalf("run %s has no attempt under its token", run.Short())
	return ledger.Attempt{}
}

// reconcile looks at a run in doubt, and checks that the verdict is true and what it was drawn from is on record.
func (d *doubt) reconcile(t *testing.T, env *pipeline.Env, run ledger.Run, before []string) pipeline.Reconciled {
	t.Helper()
	found, err := env.Reconcile(t.Context(), run.ID, byOperator)
	if err != nil {
		t.Fatalf("reconcile: %v", err)
	}
	t.Logf("verdict %s: %s (%s)", found.Verdict, found.Reason, found.Fence)
	if truth := d.truth(t, found.Run, before); found.Verdict != truth {
		t.Errorf("verdict %s (%s), but the rows of the target say %s", found.Verdict, found.Reason, truth)
	}
	a := attempt(t, env, found.Run)
	if a.FencedAt == nil || len(a.Observations) == 0 || string(a.Verdict) != string(found.Verdict) || len(a.JudgedBy) == 0 {
		t.Errorf("attempt %d is fenced at %v with observations %s, verdict %q by %s: want all of it on record", a.Number, a.FencedAt, a.Observations, a.Verdict, a.JudgedBy)
	}
	return found
}

// wantEdge checks that a run's history has an edge.
func wantEdge(t *testing.T, env *pipeline.Env, run ledger.Run, event ledger.Event) {
	t.Helper()
	entries, err := env.Ledger.Events(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == ledger.KindState && e.Code == string(event) {
			return
		}
	}
	t.Errorf("the history of run %s has no event %s", run.Short(), event)
}

// once makes a rule strike at the first call that it is meant for, and lets all others pass.
func once(match func(proxy.Call) bool, fate proxy.Fate) (rule func(proxy.Call) proxy.Fate, struck <-chan struct{}) {
	done := make(chan struct{})
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return func(c proxy.Call) proxy.Fate {
		if !match(c) {
			return proxy.Pass
		}
		select {
		case <-first:
			close(done)
			return fate
		default:
			return proxy.Pass
		}
	}, done
}

func wantStruck(t *testing.T, struck <-chan struct{}) {
	t.Helper()
	select {
	case <-struck:
	default:
		t.Fatal("the fault did not strike: the test shows nothing")
	}
}

// TestPublishLost loses the connection, or an answer, at each point at which the statement may have been sent. One run
// meets them one after the other: what is proved not to have been applied is published again from the sealed data.
func TestPublishLost(t *testing.T) {
	d := newDoubt(t)
	insert := func(answered bool) func(proxy.Call) bool {
		return func(c proxy.Call) bool { return c.Publish && c.Answered == answered }
	}
	var running, ended statement
	var run ledger.Run
	for _, point := range []struct {
		name  string
		match func(proxy.Call) bool
		fate  proxy.Fate
		want  publish.Verdict // "": whichever is true
		sent  int             // statements that reach the server
	}{
		{"cut while it is sent", insert(false), proxy.Cut, publish.NotApplied, 0},
		{"cut before the handle arrives", insert(false), proxy.CutSent, "", 1},
		{"handle lost, and the server knows", insert(true), proxy.Cut, "", 1},
		{"handle lost, and the server does not know", insert(true), proxy.Lose, "", 1},
		{"cut while it runs", running.polled, proxy.CutSent, "", 1},
		{"status lost after the end", ended.finished, proxy.Lose, publish.Applied, 1},
	} {
		t.Run(point.name, func(t *testing.T) {
			before, sent := d.next(t, &run), d.proxy.Statements()
			rule, struck := once(point.match, point.fate)
			d.proxy.Rule(rule)
			run = drive(t, d.env, run.ID)
			d.proxy.Rule(nil)
			wantStruck(t, struck)
			d.wantDoubt(t, run)
			if n := d.proxy.Statements() - sent; n != point.sent {
				t.Errorf("%d statements reached the server, want %d", n, point.sent)
			}
			found := d.reconcile(t, d.env, run, before)
			if point.want != "" && found.Verdict != point.want {
				t.Errorf("verdict %s (%s), want %s", found.Verdict, found.Reason, point.want)
			}
			run = d.goOn(t, found)
		})
	}
	t.Run("cut in the move, when all that was there is gone", d.loseDirectory)
}

// loseDirectory lets a publish end where Hive has removed the partition's directory and has not put another there.
func (d *doubt) loseDirectory(t *testing.T) {
	whole := d.env.Warehouse
	t.Cleanup(func() { d.env.Warehouse = whole })
	out := &publisher{Warehouse: whole}
	var removed error
	out.send = func(ctx context.Context, _ publish.Session, p publish.Publication, _ func(publish.Progress)) (publish.Result, error) {
		e, err := whole.Observe(ctx, p.Target)
		if err == nil {
			_, err = d.Hive(ctx, "dfs -rm -r "+e.Location) // as the owner of the warehouse
		}
		removed = err
		return publish.Result{}, publish.ErrUnknown
	}
	d.env.Warehouse = out
	change(t, d.World)
	run := drive(t, d.env, d.submit(t, d.env).ID)
	out.send = nil
	if removed != nil {
		t.Fatalf("remove the partition's directory: %v", removed)
	}
	wantState(t, run, ledger.PublishUnknown)
	found := reconcile(t, d.env, run, publish.Damaged)
	run = drive(t, d.env, d.goOn(t, found).ID)
	d.wantSuccess(t, run)
}

// cuts is how many moments of a statement's life are tried, its end and what comes after included.
const cuts = 5

// TestPublishCutInTheMiddle cuts the connection at moments that are spread over a statement's life, so that some are near
// the short step in which Hive moves the files: whatever became of the target, the verdict must say it.
func TestPublishCutInTheMiddle(t *testing.T) {
	d := newDoubt(t)
	var run ledger.Run
	for i := range cuts {
		before, sent := d.next(t, &run), d.proxy.Statements()
		var s statement
		var began time.Time
		rule, struck := once(s.polled, proxy.CutSent)
		d.proxy.Rule(func(c proxy.Call) proxy.Fate {
			if c.Publish && c.Answered {
				began = time.Now()
			}
			fate := rule(c)
			if fate == proxy.CutSent {
				time.Sleep(time.Until(began.Add(d.life * time.Duration(i+1) / (cuts - 1)))) // the moment is what is being tried
			}
			return fate
		})
		run = drive(t, d.env, run.ID)
		d.proxy.Rule(nil)
		wantStruck(t, struck)
		wantState(t, run, ledger.PublishUnknown)
		found := d.reconcile(t, d.env, run, before)
		if n := d.proxy.Statements() - sent; n != 1 {
			t.Errorf("%d statements reached the server, want 1", n)
		}
		run = d.goOn(t, found)
	}
}

// next readies a run that can be published, a new one unless the last one still can, and returns what the target holds.
func (d *doubt) next(t *testing.T, run *ledger.Run) []string {
	t.Helper()
	if run.State != ledger.StagingValidated { // the first, or the one before was applied
		change(t, d.World)
		*run = d.submit(t, d.env)
	}
	return d.lines(t)
}

// statement finds the calls on the connection that the publish statement is sent on.
type statement struct{ conn atomic.Int64 }

func (s *statement) status(c proxy.Call) bool {
	if c.Publish {
		s.conn.Store(int64(c.Conn))
	}
	return int64(c.Conn) == s.conn.Load() && c.Method == "GetOperationStatus"
}

func (s *statement) polled(c proxy.Call) bool   { return s.status(c) && !c.Answered }
func (s *statement) finished(c proxy.Call) bool { return s.status(c) && c.Finished }

func (d *doubt) submit(t *testing.T, env *pipeline.Env) ledger.Run {
	t.Helper()
	run, err := env.Submit(t.Context(), d.Job(), pipeline.Submission{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// goOn gives the word that the verdict allows. What was applied is driven to its SUCCESS; what was not waits to be
// published again, under another token.
func (d *doubt) goOn(t *testing.T, found pipeline.Reconciled) ledger.Run {
	t.Helper()
	word := ledger.Resolution{As: ledger.AsRepublish, Reason: "looked at it", By: "operator@here"}
	if found.Verdict == publish.Applied {
		word.As = ledger.AsPublished
	}
	run, err := d.env.Resolve(t.Context(), found.Run.ID, word)
	if err != nil {
		t.Fatalf("resolve as %s: %v", word.As, err)
	}
	if word.As == ledger.AsRepublish {
		if run.State != ledger.StagingValidated {
			t.Errorf("run is %s, want STAGING_VALIDATED", run.State)
		}
		return run
	}
	sent := d.proxy.Statements()
	d.wantSuccess(t, drive(t, d.env, run.ID))
	if n := d.proxy.Statements(); n != sent {
		t.Errorf("a run resolved as published sent %d more statements", n-sent)
	}
	return drive(t, d.env, run.ID)
}

// wantSuccess checks a run's end, its target, and that each of its attempts has a mark of its own.
func (d *doubt) wantSuccess(t *testing.T, run ledger.Run) {
	t.Helper()
	if run.State != ledger.Success {
		t.Fatalf("run is %s (%s), want SUCCESS", run.State, run.Message)
	}
	wantTarget(t, d.World, run.SCN)
	l, err := d.env.Layout(run)
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := d.env.Ledger.Attempts(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]bool{}
	for _, a := range attempts {
		tokens[a.Token.String()] = true
		if a.ArmedAt == nil {
			continue
		}
		if m, err := pipeline.ReadMark(t.Context(), d.env.Store, l, a.Number); err != nil || m.Token != a.Token.String() {
			t.Errorf("mark %d is of token %s, %v, want %s", a.Number, m.Token, err, a.Token)
		}
	}
	if len(tokens) != len(attempts) || len(attempts) != run.PublishAttempt {
		t.Errorf("%d attempts with %d tokens, the last is number %d", len(attempts), len(tokens), run.PublishAttempt)
	}
}

// wantDoubt checks what a run must be while nobody knows what its publish did.
func (d *doubt) wantDoubt(t *testing.T, run ledger.Run) {
	t.Helper()
	if run.State != ledger.PublishUnknown {
		t.Fatalf("run is %s (%s), want PUBLISH_UNKNOWN", run.State, run.Message)
	}
	if _, err := d.env.Submit(t.Context(), d.Job(), pipeline.Submission{}); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("another run of the key: %v, want DUPLICATE_ACTIVE_RUN", err)
	}
	var refused *ledger.ResolveError
	word := ledger.Resolution{As: ledger.AsFailed, Reason: "I think so", By: "operator@here"}
	if _, err := d.env.Resolve(t.Context(), run.ID, word); !errors.As(err, &refused) {
		t.Errorf("resolved before it was fenced: %v, want a refusal", err)
	}
	word.Reason = " "
	if _, err := d.env.Resolve(t.Context(), run.ID, word); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("resolved without a reason: %v, want a refusal", err)
	}
}
