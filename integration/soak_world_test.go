package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// soakDaemons is how many daemons share the ledger.
const soakDaemons = 3

// soak is everything that the soak test harms and looks at.
type soak struct {
	w      *scenario.World
	r      *rand.Rand // of the one goroutine that does harm
	length time.Duration
	ledger *ledger.Ledger // past the proxies
	admin  *pgxpool.Pool

	postgres ledgertest.ClusterOptions
	cluster  *ledgertest.Cluster // of the goroutine that does harm
	paths    []*breaker          // to the ledger and to the source
	config   string              // a daemon file that leads through them
	daemons  []*daemon
	programs map[string]string

	jobs          []jobState // each of the goroutine of its job
	lost, doubled atomic.Int64
	faults        map[string]int // of the goroutine that does harm
	recoveries    recoveries
}

// soakRecovery makes lost work be found soon: this is what the times to recover consist of.
const soakRecovery = `recovery:
  heartbeat: 250ms
  stale: 2s
  step_renew: 250ms
  step_lease: 2s
  publish_stale: 2s
  publish_settle: 1s
  publish_unknown: prove
  poll: 250ms
log:
`

func newSoak(t *testing.T, r *rand.Rand) *soak {
	t.Helper()
	s := &soak{r: r, length: soakLength(t), jobs: make([]jobState, soakJobs), faults: map[string]int{}}
	s.postgres.Settings = map[string]string{"max_connections": "200"}
	dir, err := os.MkdirTemp("", "loadctl-pg-") // not below t.TempDir, which the server's own user may not enter
	if err != nil {
		t.Fatal(err)
	}
	if s.cluster, err = ledgertest.StartCluster(dir, s.postgres); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.cluster.Stop(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	if s.w, err = scenario.Start(t.Context(), scenario.Options{Dir: t.TempDir(), Postgres: s.cluster, Few: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.w.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := ledgertest.MakeLedger(t.Context(), s.cluster, s.w.Ledger.Name); err != nil {
		t.Fatal(err)
	}
	s.ledger = open(t, s.w)
	if s.admin, err = pgxpool.New(t.Context(), s.w.Ledger.Admin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.admin.Close)
	s.configure(t)
	s.build(t)
	s.startDaemons(t)
	return s
}

// configure writes the jobs, and a daemon file in which ledger and source are behind proxies.
func (s *soak) configure(t *testing.T) {
	t.Helper()
	for i := range s.jobs {
		s.jobs[i].failures = map[string]int{}
		// The attempts must outlast the faults: giving up is not what is tried.
		text := s.w.JobText(soakJob(i), "lake."+soakTable(i)) + "extract:\n  max_attempts: 20\n"
		if err := s.w.WriteJob(soakJob(i), text); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(s.w.Config)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`(?s)recovery:\n.*log:\n`).ReplaceAllString(string(text), soakRecovery)
	for _, server := range []string{fmt.Sprintf("127.0.0.1:%d", s.cluster.Port), s.w.Oracle.Addr()} {
		b := newBreaker(t, server)
		s.paths = append(s.paths, b)
		changed = strings.Replace(changed, "port: "+portOf(server)+"\n", "port: "+portOf(b.listen.Addr().String())+"\n", 1)
	}
	s.config = filepath.Join(s.w.Dir, "soak.yaml")
	if err := os.WriteFile(s.config, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address) // printed by a net.Addr
	return port
}

func (s *soak) build(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	s.programs = map[string]string{}
	for _, name := range []string{"loadd", "loadctl"} {
		s.programs[name] = filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", s.programs[name], "../cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
}

// loadctl runs a command to its end, whatever that is.
func (s *soak) loadctl(t *testing.T, args ...string) {
	cmd := exec.CommandContext(t.Context(), s.programs["loadctl"], args...)
	cmd.Env = append(os.Environ(), "LOADCTL_CONFIG="+s.config)
	_ = cmd.Run()
}

// daemon is a place at which some loadd always runs, as a supervisor of the system would see to it.
type daemon struct {
	mu  sync.Mutex
	pid int // 0 between two
}

// startDaemons starts the daemons and their supervisors.
func (s *soak) startDaemons(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	logs, err := os.Create(filepath.Join(t.TempDir(), "loadd.log"))
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for range soakDaemons {
		d := &daemon{}
		s.daemons = append(s.daemons, d)
		work.Go(func() { d.supervise(ctx, logs, s.programs["loadd"], "--config", s.config) })
	}
	t.Cleanup(func() {
		stop()
		work.Wait()
		if t.Failed() {
			t.Logf("the daemons said last:\n%s", tail(logs.Name(), 8000))
		}
		logs.Close()
	})
}

func tail(name string, n int) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-n):])
}

// supervise starts the program again whenever it ends.
func (d *daemon) supervise(ctx context.Context, logs io.Writer, name string, args ...string) {
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stderr = logs
		d.mu.Lock()
		err := cmd.Start()
		if err == nil {
			d.pid = cmd.Process.Pid
		}
		d.mu.Unlock()
		if err == nil {
			_ = cmd.Wait() // killed, or given up because the ledger was away
		}
		d.mu.Lock()
		d.pid = 0
		d.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// signal sends a signal to the loadd that runs now; 0: none does.
func (d *daemon) signal(sig syscall.Signal) (pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pid == 0 || syscall.Kill(d.pid, sig) != nil {
		return 0
	}
	return d.pid
}

// harm does harm until the end. What was paused goes on later, in its own time.
func (s *soak) harm(t *testing.T, end time.Time) {
	t.Helper()
	var resumed sync.WaitGroup
	defer resumed.Wait()
	for time.Now().Before(end) {
		time.Sleep(time.Duration(50+s.r.IntN(300)) * time.Millisecond) // the pace of harm
		d := s.daemons[s.r.IntN(len(s.daemons))]
		pause := time.Duration(100+s.r.IntN(5000)) * time.Millisecond // up to more than twice the leases
		switch n := s.r.IntN(100); {
		case n < 40:
			s.strike(t, "kill -9", d, syscall.SIGKILL)
		case n < 65:
			if pid := s.strike(t, "pause", d, syscall.SIGSTOP); pid != 0 {
				resumed.Go(func() { // a pid that was killed since is not given away so soon: its supervisor has waited for it
					time.Sleep(pause)
					_ = syscall.Kill(pid, syscall.SIGCONT)
				})
			}
		case n < 90:
			b := s.paths[s.r.IntN(len(s.paths))]
			s.recoveries.begin(s.active(t, ""))
			b.cut()
			s.faults["cut"]++
		case n < 96:
			s.recoveries.begin(s.active(t, ""))
			s.paths[s.r.IntN(len(s.paths))].stall(pause / 2)
			s.faults["stall"]++
		default:
			s.restartPostgres(t)
		}
	}
}

// strike sends a signal to a daemon and notes the runs that it had in hand.
func (s *soak) strike(t *testing.T, what string, d *daemon, sig syscall.Signal) (pid int) {
	t.Helper()
	d.mu.Lock()
	at := d.pid
	d.mu.Unlock()
	held := s.active(t, fmt.Sprintf("/%d", at))
	if pid = d.signal(sig); pid == 0 {
		return 0
	}
	s.faults[what]++
	if pid == at {
		s.recoveries.begin(held)
	}
	return pid
}

func (s *soak) restartPostgres(t *testing.T) {
	t.Helper()
	s.recoveries.begin(s.active(t, ""))
	s.faults["PostgreSQL restart"]++
	if err := s.cluster.Stop(); err != nil {
		t.Errorf("restart PostgreSQL: %v", err)
	}
	c, err := ledgertest.StartCluster(s.cluster.Dir, s.postgres)
	if err != nil {
		t.Fatalf("restart PostgreSQL: %v", err)
	}
	s.cluster = c
}

// heal makes sure that nobody is paused any more.
func (s *soak) heal(t *testing.T) {
	t.Helper()
	for _, d := range s.daemons {
		d.signal(syscall.SIGCONT)
	}
}

// progress is how far a run is.
type progress struct {
	ID   uuid.UUID
	Seq  int
	Done int // partitions
}

// active reads how far the runs are that are under way: all, or those in which a worker whose name ends so has work.
func (s *soak) active(t *testing.T, holder string) []progress {
	t.Helper()
	found, err := s.read(t.Context(), holder)
	if err != nil {
		t.Errorf("read the runs under way: %v", err)
	}
	return found
}

func (s *soak) read(ctx context.Context, holder string) ([]progress, error) {
	rows, err := s.admin.Query(ctx, `SELECT id, seq, (SELECT count(*) FROM loadctl.load_partition p WHERE p.run_id = r.id AND p.state = 'SUCCESS') AS done
		FROM loadctl.load_run r WHERE active AND ($1 = '' OR right(coalesce(step_owner, ''), length($1)) = $1
		OR EXISTS (SELECT FROM loadctl.load_partition p WHERE p.run_id = r.id AND p.state = 'RUNNING' AND right(p.worker, length($1)) = $1))`, holder)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[progress])
}

// recoveries measures how long runs that met a fault took to go on: to their next state, or their next partition.
type recoveries struct {
	mu      sync.Mutex
	waiting []waiting
	took    []time.Duration
}

type waiting struct {
	progress
	since time.Time
}

// begin notes runs that meet a fault now.
func (r *recoveries) begin(runs []progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range runs {
		r.waiting = append(r.waiting, waiting{p, time.Now()})
	}
}

func (r *recoveries) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

func (r *recoveries) times() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.took)
	return r.took
}

// watch looks for runs that went on, until ctx ends.
func (r *recoveries) watch(ctx context.Context, s *soak) {
	for ctx.Err() == nil {
		if now, err := s.read(ctx, ""); err == nil {
			r.see(now)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r *recoveries) see(now []progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(w waiting) bool {
		if slices.Contains(now, w.progress) {
			return false
		}
		r.took = append(r.took, time.Since(w.since))
		return true
	})
}

// breaker is a proxy that can cut its connections and stall what they carry.
type breaker struct {
	server string
	listen net.Listener
	work   sync.WaitGroup
	flow   sync.RWMutex // held for writing while nothing gets through

	mu   sync.Mutex // guards open
	open map[net.Conn]bool
}

func newBreaker(t *testing.T, server string) *breaker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{server: server, listen: l, open: map[net.Conn]bool{}}
	b.work.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			b.work.Go(func() { b.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		b.cut()
		b.work.Wait()
	})
	return b
}

// serve joins a client with the server until either ends or both are cut.
func (b *breaker) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", b.server)
	if err != nil {
		return
	}
	defer server.Close()
	b.mu.Lock()
	b.open[client] = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.open, client)
		b.mu.Unlock()
	}()
	var back sync.WaitGroup
	back.Go(func() {
		defer client.Close()
		b.copy(client, server)
	})
	b.copy(server, client)
	server.Close()
	back.Wait()
}

func (b *breaker) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		b.flow.RLock()
		_, werr := to.Write(buf[:n])
		b.flow.RUnlock()
		if errors.Join(err, werr) != nil {
			return
		}
	}
}

// cut breaks every connection.
func (b *breaker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.open {
		c.Close()
	}
}

// stall lets nothing through for a while.
func (b *breaker) stall(d time.Duration) {
	b.flow.Lock()
	time.Sleep(d) // the length of the harm
	b.flow.Unlock()
}
