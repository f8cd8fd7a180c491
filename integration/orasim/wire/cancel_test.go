package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// go-ora has a data race of its own between the goroutine that sends a break and the one that reads, so what
// cancels through go-ora runs in a child process whose race reports do not count; the server stays in this
// one, under the race detector. The child is this test binary, told so by the environment.
const clientVariable = "ORASIM_TEST_CLIENT"

// cancelClient is the child: it runs query `rounds` times with contexts that are cancelled after a random
// time below `within` or, when that is 0, on a line of standard input, and after each a statement with a
// known answer.
type cancelClient struct {
	dsn, query string
	rounds     int
	rows       int // a query that is not cancelled in time must have; negative: it must be cancelled
	within     time.Duration
	seed       uint64
}

// start runs the child; its standard input cancels.
func (c cancelClient) start(t *testing.T) (stdin io.Writer, wait func() string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, c.dsn, c.query, strconv.Itoa(c.rounds), strconv.Itoa(c.rows), c.within.String(), strconv.FormatUint(c.seed, 10))
	cmd.Env = append(os.Environ(), clientVariable+"=1", "GORACE=exitcode=0 log_path="+t.TempDir()+"/race")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, func() string {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("client: %v: %s", err, problems.String())
		}
		return strings.TrimSpace(out.String())
	}
}

func clientMain(args []string) error {
	c := cancelClient{dsn: args[0], query: args[1]}
	var err error
	if c.rounds, err = strconv.Atoi(args[2]); err != nil {
		return err
	}
	if c.rows, err = strconv.Atoi(args[3]); err != nil {
		return err
	}
	if c.within, err = time.ParseDuration(args[4]); err != nil {
		return err
	}
	if c.seed, err = strconv.ParseUint(args[5], 10, 64); err != nil {
		return err
	}
	return c.run()
}

func (c cancelClient) run() error {
	db, err := sql.Open("oracle", c.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := selectOne(db); err != nil { // logged in
		return err
	}
	r := rand.New(rand.NewPCG(c.seed, 0))
	lines := bufio.NewReader(os.Stdin)
	cancelled := 0
	for round := range c.rounds {
		ctx, cancel := context.WithCancel(context.Background())
		if c.within > 0 {
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(r.Int64N(int64(c.within))))
		} else {
			go func() {
				_, _ = lines.ReadString('\n')
				cancel()
			}()
		}
		n, err := count(ctx, db, c.query)
		cancel()
		switch {
		case err == nil && n != c.rows:
			return fmt.Errorf("round %d: %d rows without an error, want %d", round, n, c.rows)
		case err != nil:
			cancelled++
			if code := oraCode(err); code != 1013 && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		if err := selectOneOrLateBreak(db); err != nil {
			return fmt.Errorf("round %d, the statement after: %w", round, err)
		}
	}
	fmt.Println(cancelled)
	return nil
}

// selectOneOrLateBreak runs a statement with a known answer. A break that the driver sent after its call had
// ended hits the next call, on a real server too, so that one may be cancelled, once.
func selectOneOrLateBreak(db *sql.DB) error {
	err := selectOne(db)
	if oraCode(err) == 1013 {
		err = selectOne(db)
	}
	return err
}

func TestCancelWhileExecuting(t *testing.T) {
	f := newFake()
	f.add("SELECT HELD", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)}, hold: true})
	s := start(t, f, nil)
	stdin, wait := cancelClient{dsn: dsn(s, password, ""), query: "SELECT HELD", rounds: 5, rows: -1}.start(t)
	for range 5 {
		<-f.held
		fmt.Fprintln(stdin)
	}
	if got := wait(); got != "5" {
		t.Errorf("cancelled: got %s, want 5", got)
	}
	if len(f.sessions) != 1 {
		t.Errorf("%d sessions were opened: cancelling cost the connection", len(f.sessions))
	}
}

// TestCancelWhileStreaming cancels in the middle of a reply that never ends.
func TestCancelWhileStreaming(t *testing.T) {
	f := newFake()
	f.add("SELECT ENDLESS", canned{kind: ora.KindSelect, columns: []ora.Column{column("T", text(4000))},
		row: func(i int) ([]ora.Value, error) {
			if i == 1000 {
				f.held <- struct{}{}
			}
			return []ora.Value{bytes.Repeat([]byte{'x'}, 3000)}, nil
		}})
	s := start(t, f, nil)
	stdin, wait := cancelClient{dsn: dsn(s, password, "PREFETCH_ROWS=65000"), query: "SELECT ENDLESS", rounds: 3, rows: -1}.start(t)
	for range 3 {
		<-f.held
		fmt.Fprintln(stdin)
	}
	if got := wait(); got != "3" {
		t.Errorf("cancelled: got %s, want 3", got)
	}
	if len(f.sessions) != 1 {
		t.Errorf("%d sessions were opened: cancelling cost the connection", len(f.sessions))
	}
}

// TestRandomDeadlinesNeverDesynchronise cancels at every moment of a call, a few hundred times on one
// connection, and then asks for something known.
func TestRandomDeadlinesNeverDesynchronise(t *testing.T) {
	const rounds = 300
	f := newFake()
	f.numbers("SELECT N", 2000)
	s := start(t, f, nil)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	_, wait := cancelClient{
		dsn: dsn(s, password, "PREFETCH_ROWS=1000"), query: "SELECT N", rounds: rounds, rows: 2000, within: 6 * time.Millisecond, seed: seed,
	}.start(t)
	got := wait()
	t.Logf("%s of %d were cancelled, %d sessions", got, rounds, len(f.sessions))
	if n, err := strconv.Atoi(got); err != nil || n == 0 {
		t.Errorf("cancelled: got %q of %d: the deadlines miss the calls", got, rounds)
	}
}
