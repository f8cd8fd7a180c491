package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// effect is something that a process does to the store, the warehouse or the ledger: its name, without what is random
// in it, and the how manieth of that name it is.
type effect struct {
	name string
	n    int
}

func (e effect) String() string { return fmt.Sprintf("%s #%d", e.name, e.n) }

// fault is an effect that fails, and how.
type fault struct {
	effect
	mode   stagetest.Mode
	cancel bool // the process is gone, and the run is cancelled instead of recovered
}

func (f fault) String() string {
	if f.cancel {
		return string(f.mode) + ", cancelled: " + f.effect.String()
	}
	return string(f.mode) + ": " + f.effect.String()
}

// faultsOf are all faults that an effect can meet.
func faultsOf(e effect) []fault {
	all := []fault{{effect: e, mode: stagetest.DiesAfter, cancel: true}}
	for _, mode := range stagetest.Modes() {
		all = append(all, fault{effect: e, mode: mode})
	}
	return all
}

func (f fault) dies() bool { return f.mode == stagetest.DiesBefore || f.mode == stagetest.DiesAfter }

// effects counts what one process does and makes one effect of it fail. After a fault that ends the process, nothing
// that the process tries has any effect.
type effects struct {
	fault  fault
	struck func() // called when the fault strikes
	die    func() // called when it ends the process

	mu    sync.Mutex
	seen  map[string]int
	trace []effect
	hit   bool
	dead  bool
}

// errInjected is the cause of every error that a fault gives back.
var errInjected = fmt.Errorf("injected fault: %w", stage.ErrUnreachable)

// Effect implements stagetest.Effects.
func (e *effects) Effect(name string, do func() error) error {
	mode, err := e.begin(name)
	switch {
	case err != nil:
		return err
	case mode == "":
		return do()
	}
	if mode == stagetest.Lost || mode == stagetest.DiesAfter {
		if err := do(); err != nil {
			return fmt.Errorf("the effect that was to strike failed by itself: %w", err)
		}
	}
	defer e.struck()
	if mode == stagetest.NotDone || mode == stagetest.Lost {
		return fmt.Errorf("%s: %w", name, errInjected)
	}
	e.mu.Lock()
	e.dead = true
	e.mu.Unlock()
	e.die()
	return stagetest.ErrDied
}

// begin counts an effect and says how it is to fail: "" not at all.
func (e *effects) begin(name string) (stagetest.Mode, error) {
	name = plain(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead {
		return "", stagetest.ErrDied
	}
	e.seen[name]++
	this := effect{name, e.seen[name]}
	e.trace = append(e.trace, this)
	if this != e.fault.effect {
		return "", nil
	}
	e.hit = true
	return e.fault.mode, nil
}

// Alive implements stagetest.Effects.
func (e *effects) Alive() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead {
		return stagetest.ErrDied
	}
	return nil
}

// didStrike says whether the fault has struck.
func (e *effects) didStrike() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hit
}

// all lists the effects that were begun.
func (e *effects) all() []effect {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.trace)
}

// random is what differs between two runs of the same: ids and tokens, names of drafts, and the cell's own job.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\.draft-[A-Z0-9]+|CELL_[0-9]+`)

func plain(name string) string { return random.ReplaceAllString(name, "*") }

// sends counts how often a publish statement was sent, over all processes of a lane, by its tag: a run and its attempt.
type sends struct {
	mu    sync.Mutex
	byTag map[string]int
}

func (s *sends) add(tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byTag[tag]++
}

// of lists how often each attempt of a run has sent.
func (s *sends) of(run string) (counts []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, n := range s.byTag {
		if strings.Contains(tag, run) {
			counts = append(counts, n)
		}
	}
	return counts
}

// faultyWarehouse is a warehouse whose effects go through a process's: whatever makes, drops, opens, closes, sends.
type faultyWarehouse struct {
	publish.Warehouse
	effects *effects
	sent    *sends
}

// effect has an effect, with an error that says what a broken connection says.
func (w *faultyWarehouse) effect(name string, do func() error) error {
	err := w.effects.Effect("warehouse "+name, do)
	if errors.Is(err, errInjected) {
		err = fmt.Errorf("%w: %w", publish.ErrUnreachable, err)
	}
	return err
}

func (w *faultyWarehouse) Create(ctx context.Context, t publish.Target) error {
	return w.effect("create", func() error { return w.Warehouse.Create(ctx, t) })
}

func (w *faultyWarehouse) Stage(ctx context.Context, s publish.Staging) error {
	return w.effect("stage", func() error { return w.Warehouse.Stage(ctx, s) })
}

func (w *faultyWarehouse) Unstage(ctx context.Context, s publish.Staging) error {
	return w.effect("unstage", func() error { return w.Warehouse.Unstage(ctx, s) })
}

func (w *faultyWarehouse) Fence(ctx context.Context, h publish.Handle) error {
	return w.effect("fence", func() error { return w.Warehouse.Fence(ctx, h) })
}

func (w *faultyWarehouse) Observe(ctx context.Context, t publish.Target) (publish.Evidence, error) {
	if err := w.effects.Alive(); err != nil {
		return publish.Evidence{}, err
	}
	return w.Warehouse.Observe(ctx, t)
}

func (w *faultyWarehouse) Measure(ctx context.Context, in publish.Scope, ms []extract.Measure) ([]extract.Metric, error) {
	if err := w.effects.Alive(); err != nil {
		return nil, err
	}
	return w.Warehouse.Measure(ctx, in, ms)
}

func (w *faultyWarehouse) Open(ctx context.Context, tag string) (publish.Session, error) {
	var s publish.Session
	err := w.effect("open", func() (err error) {
		s, err = w.Warehouse.Open(ctx, tag)
		return err
	})
	if err != nil {
		return nil, err // opened or not, nobody has it
	}
	return &faultySession{Session: s, warehouse: w}, nil
}

type faultySession struct {
	publish.Session
	warehouse *faultyWarehouse
}

func (s *faultySession) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (result publish.Result, err error) {
	if err := s.warehouse.effects.Alive(); err != nil {
		return publish.Result{Rows: -1}, err
	}
	s.warehouse.sent.add(p.Tag)
	err = s.warehouse.effect("publish", func() (err error) {
		result, err = s.Session.Publish(ctx, p, report)
		return err
	})
	if errors.Is(err, errInjected) {
		return publish.Result{Rows: -1}, fmt.Errorf("%w: %w", publish.ErrUnknown, err)
	}
	return result, err
}

func (s *faultySession) Close(ctx context.Context) error {
	return s.warehouse.effect("close", func() error { return s.Session.Close(ctx) })
}

// gate is a proxy before PostgreSQL that makes an effect of every COMMIT of a transaction that changes something.
type gate struct {
	effects    *effects
	server     string
	listen     net.Listener
	statements map[string]string // the names of those that change something, by their text
	work       sync.WaitGroup

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]bool
	closed bool
}

// leases are the statements by which processes only say that they are there: when and how often is up to the clock, and
// losing one is what losing the process's lease is.
var leases = []string{"partition_beat", "step_renew", "slot_renew"}

// changing reads the ledger's own statements and names those that change something, by their text as the driver sends it.
func changing() (map[string]string, error) {
	files, err := filepath.Glob("../ledger/sql/*.sql")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, errors.New("no statement of the ledger was found"))
	}
	named := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		if slices.Contains(leases, name) || !changes.Match(text) {
			continue
		}
		sent, _, err := pgx.NamedArgs{}.RewriteQuery(context.Background(), nil, string(text), nil)
		if err != nil {
			return nil, err
		}
		named[sent] = name
	}
	return named, nil
}

var changes = regexp.MustCompile(`(?m)\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE loadctl\.`)

// newGate starts a proxy before the server at an address.
func newGate(server string, e *effects) (*gate, error) {
	statements, err := changing()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{effects: e, server: server, listen: l, statements: statements, open: map[net.Conn]bool{}}
	g.work.Go(g.accept)
	return g, nil
}

func (g *gate) accept() {
	for {
		client, err := g.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", g.server)
		if err != nil || !g.keep(client, server) {
			client.Close()
			continue
		}
		l := &link{gate: g, client: client, server: server, prepared: map[string]string{},
			done: make(chan struct{}), held: make(chan struct{}), verdict: make(chan struct{})}
		g.work.Go(l.answers)
		g.work.Go(l.requests)
	}
}

// keep remembers two ends to cut; false: it is too late.
func (g *gate) keep(ends ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		for _, c := range ends {
			c.Close()
		}
		return false
	}
	for _, c := range ends {
		g.open[c] = true
	}
	return true
}

// shut cuts every connection and lets none in any more.
func (g *gate) shut() {
	g.listen.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.open {
		c.Close()
	}
}

// close shuts the gate and waits until nothing of it runs.
func (g *gate) close() {
	g.shut()
	g.work.Wait()
}

// link is one connection through the gate.
type link struct {
	gate           *gate
	client, server net.Conn
	prepared       map[string]string // statements that change something, by the name under which they were prepared
	changed        []string          // by the transaction under way

	holding atomic.Bool   // the next answer is held until there is a verdict
	held    chan struct{} // an answer is held
	verdict chan struct{} // it may be passed on
	done    chan struct{} // closed with the connection
	once    sync.Once
}

func (l *link) cut() {
	l.once.Do(func() { close(l.done) })
	l.client.Close()
	l.server.Close()
}

// requests passes on what the client sends. It ends with the connection.
func (l *link) requests() {
	defer l.cut()
	in := bufio.NewReader(l.client)
	for startup := true; ; startup = false {
		msg, err := message(in, startup)
		if err != nil {
			return
		}
		if !startup && l.commits(msg) {
			if err := l.commit(msg); err != nil {
				return
			}
			continue
		}
		if _, err := l.server.Write(msg); err != nil {
			return
		}
	}
}

// commits notes what a message does, and says whether it is the COMMIT of a transaction that changes something.
func (l *link) commits(msg []byte) bool {
	fields := strings.SplitN(string(msg[5:]), "\x00", 3)
	switch msg[0] {
	case 'P': // name, text
		if name, ok := l.gate.statements[fields[1]]; ok {
			l.prepared[fields[0]] = name
		}
	case 'B': // portal, name
		if name, ok := l.prepared[fields[1]]; ok {
			l.changed = append(l.changed, name)
		}
	case 'Q':
		switch strings.ToLower(fields[0]) {
		case "commit":
			return len(l.changed) > 0
		case "rollback":
			l.changed = nil
		}
	}
	return false
}

// commit has the effect of a COMMIT; its answer is held until it is known whether it is passed on.
func (l *link) commit(msg []byte) error {
	name := "ledger " + strings.Join(slices.Compact(l.changed), " ")
	l.changed = nil
	err := l.gate.effects.Effect(name, func() error {
		l.holding.Store(true)
		if _, err := l.server.Write(msg); err != nil {
			return err
		}
		select {
		case <-l.held:
			return nil
		case <-l.done:
			return io.ErrUnexpectedEOF
		}
	})
	if err != nil {
		return err
	}
	select {
	case l.verdict <- struct{}{}:
		return nil
	case <-l.done:
		return io.ErrUnexpectedEOF
	}
}

// answers passes on what the server sends. An answer that is held is passed on when there is a verdict, and lost if the
// connection is cut instead.
func (l *link) answers() {
	defer l.cut()
	in := bufio.NewReader(l.server)
	var kept bytes.Buffer
	for {
		msg, err := message(in, false)
		if err != nil {
			return
		}
		kept.Write(msg)
		if l.holding.Load() {
			if msg[0] != 'Z' { // ready for the next statement: the answer is whole
				continue
			}
			if !l.await() {
				return
			}
			l.holding.Store(false)
		}
		if _, err := kept.WriteTo(l.client); err != nil {
			return
		}
	}
}

// await says that an answer is held and waits for the verdict; false: the connection is cut.
func (l *link) await() bool {
	select {
	case l.held <- struct{}{}:
	case <-l.done:
		return false
	}
	select {
	case <-l.verdict:
		return true
	case <-l.done:
		return false
	}
}

// message reads one message of PostgreSQL's protocol: a type byte (not in the first one of a client) and a length.
func message(r io.Reader, startup bool) ([]byte, error) {
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
