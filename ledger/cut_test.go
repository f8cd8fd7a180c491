package ledger_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// cut says what the proxy does with the next COMMIT.
type cut int32

const (
	pass        cut = iota
	cutBefore       // the connection breaks before COMMIT reaches the server: nothing is done
	cutAfter        // COMMIT is done, the connection breaks before the answer reaches the client
	cutNotAgain     // as pass: the cut was made
)

// cutter is a proxy before PostgreSQL that can break a connection at COMMIT.
type cutter struct {
	mode   atomic.Int32
	skip   atomic.Int32 // so many COMMITs pass before the mode counts
	listen net.Listener
	server string
	wg     sync.WaitGroup
}

// newCutter puts a proxy before a test's database and returns the database as it is reached through it.
func newCutter(t *testing.T, db ledgertest.Database) (*cutter, ledgertest.Database) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	c := &cutter{listen: l, server: net.JoinHostPort("127.0.0.1", strconv.Itoa(db.Cluster.Port))}
	db.DSN = strings.Replace(db.DSN, c.server, l.Addr().String(), 1)
	c.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.wg.Wait()
	})
	return c, db
}

// serve joins one client with the server until either ends or the cut is made.
func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	var swallow atomic.Bool
	c.wg.Go(func() {
		defer client.Close()
		buf := make([]byte, 16<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || swallow.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	for startup := true; ; startup = false {
		msg, err := readMessage(client, startup)
		if err != nil {
			return
		}
		if !startup && msg[0] == 'Q' && strings.EqualFold(strings.TrimRight(string(msg[5:]), "\x00"), "commit") && c.skip.Add(-1) < 0 {
			switch cut(c.mode.Swap(int32(cutNotAgain))) {
			case cutBefore:
				return
			case cutAfter:
				swallow.Store(true)
			}
		}
		if _, err := server.Write(msg); err != nil {
			return
		}
	}
}

// readMessage reads one message of PostgreSQL's protocol: a type byte (not in the first one) and a length.
func readMessage(r io.Reader, startup bool) ([]byte, error) {
	head := make([]byte, 5)
	if startup {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[len(head)-4:])
	msg := append(head, make([]byte, n-4)...)
	_, err := io.ReadFull(r, msg[len(head):])
	return msg, err
}

// losing makes a function that takes a decision twice: its first answer is lost, its repeat must succeed.
func (c *cutter) losing(t *testing.T, mode cut) func(what string, f func() error) {
	return func(what string, f func() error) {
		t.Helper()
		c.skip.Store(0)
		c.mode.Store(int32(mode))
		if err := f(); !errors.Is(err, ledger.ErrCommitUnknown) || errors.Is(err, ledger.ErrStale) {
			t.Fatalf("%s with a lost answer: %v, want ErrCommitUnknown", what, err)
		}
		if err := f(); err != nil {
			t.Fatalf("%s repeated: %v", what, err)
		}
	}
}

// A connection that is lost at COMMIT is unknown, never assumed, and every decision can be repeated as it was: whether
// the first one was done or not, the run's history is the same.
func TestEveryDecisionSurvivesALostCommit(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]cut{"not done": cutBefore, "done": cutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t)
			c, proxied := newCutter(t, db)
			direct, l := db.Open(t, ledger.Config{}), proxied.Open(t, ledger.Config{})
			lostMainPath(t, l, direct, c.losing(t, mode))
		})
	}
}

// lostMainPath takes a run to SUCCESS, each decision through lost, what is between them directly.
func lostMainPath(t *testing.T, l, direct *ledger.Ledger, lost func(string, func() error)) {
	ctx := t.Context()
	req := request(t, "j")
	lost("submit", func() error { return second(l.Submit(ctx, req)) })
	step := func(kind ledger.Dispatch) (hold ledger.Hold) {
		token, d := ledger.NewToken(), due(t, direct, req.ID)
		lost("own "+string(kind), func() error {
			o, err := l.OwnStep(ctx, ledger.OwnRequest{Dispatch: d.ID, Token: token, Lease: lease})
			if err == nil && (!o.Owned || o.Attempt != 1) {
				err = errors.New("not owned: " + o.Why)
			}
			return err
		})
		return ledger.Hold{Run: req.ID, Token: token}
	}
	m := manifest(step(ledger.Plan), 30, 0)
	lost("manifest", func() error { return second(l.RegisterManifest(ctx, m)) })

	var c ledger.Claim
	token := ledger.NewToken()
	lost("claim", func() (err error) {
		var ok bool
		c, ok, err = l.ClaimPartition(ctx, ledger.ClaimRequest{Token: token, Lease: lease})
		if err == nil && !ok {
			err = errors.New("not claimed")
		}
		return err
	})
	lost("chunk", func() error { return l.ReportChunk(ctx, c.Held, chunk(c, 0, 30)) })
	lost("finish", func() error {
		_, err := l.FinishPartition(ctx, c.Held, ledger.FinishReport{Chunks: 1, Rows: 30, Metrics: rowsMetric("30")})
		return err
	})
	hold := step(ledger.ValidateStage)
	lost("sealed", func() error { return l.Sealed(ctx, hold, "x") })
	lost("metrics", func() error {
		_, err := l.RecordMetrics(ctx, hold, ledger.StageStream, rowsMetric("30"))
		return err
	})
	record(t, direct, hold, ledger.StageStaging, rowsMetric("30"))
	lost("staged", func() error { return second(l.StagingValidated(ctx, hold, nil)) })

	hold = step(ledger.Publish)
	check(t, direct.Arm(ctx, hold, arming()))
	lost("progress", func() error { return l.PublishProgress(ctx, hold, ledger.Sent{QueryID: "q"}) })
	n := int64(30)
	lost("published", func() error {
		return second(l.PublishResult(ctx, hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n}))
	})
	hold = step(ledger.ValidateTarget)
	record(t, direct, hold, ledger.StageTarget, rowsMetric("30"))
	lost("verified", func() error { return second(l.Verified(ctx, hold, nil)) })

	run := must(t)(direct.Run(ctx, req.ID))
	if run.State != ledger.Success || run.Seq != 7 || run.Number != 1 || run.Chunks != 1 || run.PublishAttempt != 1 {
		t.Fatalf("run %+v, want SUCCESS at 7 with one chunk and one publish", run)
	}
	other := request(t, "k")
	lost("submit", func() error { return second(l.Submit(ctx, other)) })
	lost("cancel", func() error { return second(l.Cancel(ctx, other.ID, "op", "x")) })
}

// An arm whose answer was lost is read, not repeated: what was stored tells whether this call armed.
func TestLostArmIsReadNotRepeated(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]cut{"not done": cutBefore, "done": cutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t)
			direct := db.Open(t, ledger.Config{})
			o := own(t, direct, staged(t, direct, "j").ID, ledger.Publish)
			c, proxied := newCutter(t, db)
			l := proxied.Open(t, ledger.Config{})
			c.mode.Store(int32(mode))
			if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrCommitUnknown) {
				t.Fatalf("arm: %v, want ErrCommitUnknown", err)
			}
			attempts, err := l.Attempts(t.Context(), o.Hold.Run)
			check(t, err)
			if got, want := attempts[0].ArmedAt != nil, mode == cutAfter; got != want {
				t.Fatalf("armed %v, want %v", got, want)
			}
			if mode == cutBefore {
				check(t, l.Arm(t.Context(), o.Hold, arming()))
			} else if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrStale) {
				t.Fatalf("second arm: %v, want ErrStale", err)
			}
		})
	}
}
