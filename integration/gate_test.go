package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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
)

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

// newGate makes a proxy before the server at an address. It begins with accept.
func newGate(server string, e *effects) (*gate, error) {
	statements, err := changing()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &gate{effects: e, server: server, listen: l, statements: statements, open: map[net.Conn]bool{}}, nil
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
