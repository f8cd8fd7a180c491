package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// lanes is how many cells of the matrix run side by side, each in a lane with a ledger of its own. They mostly wait: for
// leases to run out, and for the pause before something is tried again.
const lanes = 16

// cellTimeout bounds one cell, recovery and all.
const cellTimeout = 2 * time.Minute

// TestCrashMatrix counts the effects of a clean run, from submit to SUCCESS (every change in the store, every call of the
// warehouse that changes, opens or sends something, every COMMIT of the ledger that changes something), and then, for
// each effect, has a run meet a fault there: an error although nothing was done, an error although it was done, the
// process gone before or after it. What is left is recovered, by the process itself if it lives, else by another one, or
// cancelled where that is allowed, and then the run must be over and right: see lane.check. In the end all is cleaned, and
// nothing may be left.
//
// The whole takes longer than a test may, so by default each effect meets one of the five, in a rotation that begins at
// LOADCTL_TEST_SEED (printed): five seeds in a row make the whole. LOADCTL_MATRIX=full runs the whole.
func TestCrashMatrix(t *testing.T) {
	w := fewRows(t)
	all := make([]*lane, lanes)
	for i := range all {
		all[i] = newLane(t, w, i)
	}
	all[0].prepare(t)
	clean := all[0].countEffects(t)
	cells := rotation(t, clean)
	runCells(t, all, cells)
	ageDrafts(t, w)
	for _, l := range all {
		l.mustClean(t)
		wantLegalLedger(t, l.w)
	}
	wantNothingLeft(t, w)
}

// fewRows starts a small embedded world, whose own ledger is not used.
func fewRows(t *testing.T) *scenario.World {
	t.Helper()
	w, err := scenario.Start(t.Context(), scenario.Options{Dir: t.TempDir(), Postgres: cluster(t), Few: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close the world: %v", err)
		}
	})
	return w
}

// rotation makes the cells of the matrix.
func rotation(t *testing.T, of []effect) (cells []fault) {
	t.Helper()
	from := seed(t)
	for i, e := range of {
		faults := faultsOf(e)
		if os.Getenv("LOADCTL_MATRIX") != "full" {
			faults = faults[(uint64(i)+from)%uint64(len(faults)):][:1]
		}
		cells = append(cells, faults...)
	}
	t.Logf("%d effects, %d of %d cells", len(of), len(cells), len(of)*len(faultsOf(effect{})))
	return cells
}

// seed is LOADCTL_TEST_SEED, or else one of its own; it is printed.
func seed(t *testing.T) uint64 {
	t.Helper()
	s, err := strconv.ParseUint(os.Getenv("LOADCTL_TEST_SEED"), 10, 64)
	if err != nil {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("LOADCTL_TEST_SEED=%d", s)
	return s
}

// runCells hands the cells to the lanes.
func runCells(t *testing.T, all []*lane, cells []fault) {
	t.Helper()
	var next, waited atomic.Int64
	var work sync.WaitGroup
	start := time.Now()
	for _, l := range all {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(cells)); i = next.Add(1) - 1 {
				began := time.Now()
				if err := l.cell(t.Context(), int(i), cells[i]); err != nil {
					t.Errorf("%s\n\t%v", cells[i], err)
				}
				waited.Add(int64(time.Since(began)))
			}
		})
	}
	work.Wait()
	broken := 0
	for _, l := range all {
		broken += int(l.broken.Load())
	}
	if broken > len(cells)/8 {
		t.Errorf("%d of %d runs lost their lease in mid-publish: the machine is too busy for the matrix to show anything", broken, len(cells))
	}
	t.Logf("%d cells in %s, %s each", len(cells), time.Since(start).Round(time.Second),
		(time.Duration(waited.Load()) / time.Duration(max(len(cells), 1))).Round(time.Millisecond))
}

// lane is a ledger, on which one cell after the other runs, with store, warehouse and source shared by all lanes.
type lane struct {
	number int
	w      *scenario.World
	env    *pipeline.Env // of the process that recovers what others leave
	sent   *sends
	broken atomic.Int64 // runs that failed, with the target as it was, because the machine was too busy
}

// newLane makes a lane. Some process always sweeps its ledger, as some daemon would.
func newLane(t *testing.T, w *scenario.World, number int) *lane {
	t.Helper()
	own := *w
	own.Ledger = ledgertest.New(t)
	l := &lane{number: number, w: &own, sent: &sends{byTag: map[string]int{}}}
	l.env = newEnv(t, &own)
	l.tune(l.env, &effects{seen: map[string]int{}})
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { l.sweep(ctx) })
	t.Cleanup(func() { stop(); work.Wait() })
	return l
}

// Times of the matrix: short enough not to be waited for long, long enough that a busy machine seldom takes the living for
// dead. (If it does, the run has one recovery more.)
const (
	cellBeat   = time.Second // also how long one renewal may take
	cellLease  = 5 * time.Second
	cellPoll   = 250 * time.Millisecond
	cellSweep  = 300 * time.Millisecond
	cellSettle = 100 * time.Millisecond
)

// tune makes an environment quick, small, and counted.
func (l *lane) tune(env *pipeline.Env, e *effects) {
	env.Timing = pipeline.Timing{Heartbeat: cellBeat, Stale: cellLease, StepRenew: cellBeat, StepLease: cellLease, Poll: cellPoll, Grace: cellLease}
	env.Limits.Workers, env.Limits.BatchRows = 1, 200
	env.Store = stagetest.Through(env.Store, e)
	env.Warehouse = &faultyWarehouse{Warehouse: env.Warehouse, effects: e, sent: l.sent}
}

func (l *lane) sweep(ctx context.Context) {
	o := ledger.SweepOptions{Interval: cellSweep, Stale: cellLease, PublishStale: cellSweep}
	tick := time.NewTicker(cellSweep)
	defer tick.Stop()
	for {
		_, _ = l.env.Ledger.Sweep(ctx, o) // what it could not do, the next one finds again
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// job is one of a cell: small, of two partitions of two chunks each.
func (l *lane) job(cell int) *pipeline.Job {
	j := l.w.Job()
	j.Name, j.Target.Table = fmt.Sprintf("CELL_%d", cell), fmt.Sprintf("cell_%d", cell)
	j.TargetID = "test:lake." + j.Target.Table + "/load_date=" + scenario.Date
	j.Split.Partitions, j.ChunkRows, j.Workers = 2, 400, 1
	j.MaxAttempts = 20 // a machine too busy to renew its leases is not what is tried
	return j
}

// Cells that are none: the run that counts, and the one whose target every cell begins with.
const (
	countCell = 100000
	priorCell = 100001
)

// makesTarget is the effect that needs a target which is not there yet.
const makesTarget = "warehouse create"

// prepare makes what every cell finds at its target: an earlier load, of other rows.
func (l *lane) prepare(t *testing.T) {
	t.Helper()
	j := l.job(priorCell)
	j.Where += " AND SEQ <= 100"
	if run := runJob(t, l.env, j, pipeline.Submission{}); run.State != ledger.Success {
		t.Fatalf("run is %s: %s", run.State, run.Message)
	}
}

// seed puts the earlier load at a job's target.
func (l *lane) seed(j *pipeline.Job) error {
	return os.CopyFS(l.w.TableDir(j.Target.Table), os.DirFS(l.w.TableDir(l.job(priorCell).Target.Table)))
}

// countEffects lists the effects of a run that goes right, as often as they come.
func (l *lane) countEffects(t *testing.T) []effect {
	t.Helper()
	p, err := l.start(t.Context(), fault{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	j := l.job(countCell)
	if err := p.run(j); err != nil {
		t.Fatal(err)
	}
	run, err := l.env.Ledger.Find(t.Context(), j.Name+"/"+j.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.check(t.Context(), fault{}, j, run); err != nil || run.State != ledger.Success {
		t.Fatalf("a run without faults is %s: %s: %v", run.State, run.Message, err)
	}
	kinds := map[string]int{}
	for _, e := range p.effects.all() {
		kind, _, _ := strings.Cut(e.name, " ")
		kinds[kind]++
	}
	if kinds["ledger"] < 10 || kinds["warehouse"] < 6 || kinds["rename"] < 4 || kinds["write"] < 4 {
		t.Fatalf("effects %v: not all are counted, the matrix would prove little", kinds)
	}
	return p.effects.all()
}

// process is one process on a lane's ledger, as far as anything outside can tell: its own connections, all through
// what counts its effects and makes one of them fail.
type process struct {
	*lane
	effects *effects
	env     *pipeline.Env
	ctx     context.Context // ends with the process
	end     func()          // ends it, and waits until nothing of it runs
}

// start begins a process that will meet a fault.
func (l *lane) start(ctx context.Context, f fault) (*process, error) {
	ctx, kill := context.WithTimeout(ctx, cellTimeout)
	e := &effects{fault: f, seen: map[string]int{}, struck: l.touch}
	c := l.w.Ledger.Cluster
	server := net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
	g, err := newGate(server, e)
	if err != nil {
		kill()
		return nil, err
	}
	e.die = func() { g.shut(); kill() }
	g.work.Go(g.accept)
	through := *l.w
	through.Ledger.DSN = strings.Replace(l.w.Ledger.DSN, server, g.listen.Addr().String(), 1)
	env, closeAll, err := through.Env(ctx)
	if err != nil {
		kill()
		g.close()
		return nil, err
	}
	l.tune(env, e)
	env.Host = "victim@here/1"
	return &process{lane: l, effects: e, env: env, ctx: ctx, end: func() {
		kill()
		g.shut()
		_ = closeAll() // the process is over, however its connections end
		g.close()
	}}, nil
}

// touch changes a row, so that whoever reads at another SCN than the run's reads other rows.
func (l *lane) touch() {
	err := l.w.Write(context.Background(), fmt.Sprintf("UPDATE APP.INSP_DTL SET AMOUNT = AMOUNT + 1 WHERE SEQ = %d", 10+l.number))
	if err != nil {
		panic("change a row: " + err.Error())
	}
}

// run submits a job and drives its run until it is over, waits for a person, or the process is gone.
func (p *process) run(j *pipeline.Job) error {
	run, err := p.env.Submit(p.ctx, j, pipeline.Submission{By: "test@here"})
	if err != nil {
		return err
	}
	engine := pipeline.Engine{Env: p.env, Only: run.ID}
	return engine.Run(p.ctx, p.ctx)
}

// cell has one run meet one fault, recovers it, and checks everything.
func (l *lane) cell(ctx context.Context, number int, f fault) error {
	ctx, cancel := context.WithTimeout(ctx, cellTimeout)
	defer cancel()
	j := l.job(number)
	if f.name != makesTarget {
		if err := l.seed(j); err != nil {
			return err
		}
	}
	p, err := l.start(ctx, f)
	if err != nil {
		return err
	}
	met := make(chan error, 1)
	go func() { met <- p.run(j) }()
	gone := p.ctx.Done()
	if !f.dies() {
		gone = nil // it lives, and is to bring its run to the end
	}
	select {
	case <-gone: // before its engine has noticed
	case err := <-met:
		met <- err
	}
	run, recovered := l.finish(ctx, f, j)
	p.end()
	err = <-met
	switch {
	case !p.effects.didStrike() && !overrun(run):
		return fmt.Errorf("the fault did not strike: the run is %s (%s): %v", run.State, run.Message, err)
	case err != nil && !f.dies():
		return fmt.Errorf("the process lived on, and gave up: %w", err)
	case recovered != nil:
		return recovered
	}
	return l.check(ctx, f, j, run)
}

// finish cancels a run if that is what the cell is about and may be done, and recovers it else.
func (l *lane) finish(ctx context.Context, f fault, j *pipeline.Job) (ledger.Run, error) {
	if f.cancel {
		run, err := l.env.Ledger.Find(ctx, j.Name+"/"+j.Key)
		if err == nil {
			run, err = l.env.Ledger.Cancel(ctx, run.ID, "test@here", "abandoned")
		}
		if err == nil || !errors.Is(err, ledger.ErrNoRun) && !errors.Is(err, ledger.ErrTransition) {
			return run, err
		}
	}
	return l.recover(ctx, j)
}

// recover does what is left of a run, by another process, until the run is over.
func (l *lane) recover(ctx context.Context, j *pipeline.Job) (ledger.Run, error) {
	run, err := l.env.Ledger.Find(ctx, j.Name+"/"+j.Key)
	if errors.Is(err, ledger.ErrNoRun) {
		run, err = l.env.Submit(ctx, j, pipeline.Submission{By: "test@here"})
	}
	for err == nil && run.State.Active() {
		engine := pipeline.Engine{Env: l.env, Only: run.ID}
		if err = engine.Run(ctx, ctx); err != nil {
			return run, fmt.Errorf("recover: %w", err)
		}
		if err = ctx.Err(); err != nil {
			break
		}
		run, err = l.env.Ledger.Run(ctx, run.ID)
		if err == nil && run.State == ledger.PublishUnknown {
			run, err = decide(ctx, l.env, run.ID)
		}
	}
	if err != nil {
		err = fmt.Errorf("recover the run, which is %s (%s): %w", run.State, run.Message, err)
	}
	return run, err
}

// decide reconciles a publish of unknown outcome and says of it what the evidence proves.
func decide(ctx context.Context, env *pipeline.Env, id uuid.UUID) (ledger.Run, error) {
	found, err := env.Reconcile(ctx, id, pipeline.ReconcileOptions{Settle: cellSettle, By: "test@here"})
	if err != nil || found.Run.State != ledger.PublishUnknown {
		return found.Run, err
	}
	as, ok := map[publish.Verdict]ledger.ResolveAs{
		publish.Applied: ledger.AsPublished, publish.NotApplied: ledger.AsRepublish, publish.Damaged: ledger.AsRepublish,
	}[found.Verdict]
	if !ok {
		return found.Run, fmt.Errorf("the verdict is %s: %s", found.Verdict, found.Reason)
	}
	return env.Resolve(ctx, id, ledger.Resolution{As: as, Reason: found.Reason, By: "test@here"})
}
