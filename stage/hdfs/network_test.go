package hdfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/hdfs"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestUnreachable(t *testing.T) {
	l := listen(t)
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, hdfs.Options{NameNodes: []string{address}, Root: "/", User: "loader"})
	_, err := s.Stat(t.Context(), "f")
	if !errors.Is(err, stage.ErrUnreachable) || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v, want ErrUnreachable naming %s and the refusal", err, address)
	}
}

// silent accepts connections and never answers; accepted tells of each.
func silent(t *testing.T) (address string, accepted <-chan struct{}) {
	l := listen(t)
	told := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			told <- struct{}{}
		}
	}()
	return l.Addr().String(), told
}

func TestSilentNameNodeTimesOut(t *testing.T) {
	address, _ := silent(t)
	s := open(t, hdfs.Options{NameNodes: []string{address}, Root: "/", User: "loader", Timeout: 100 * time.Millisecond})
	begin := time.Now()
	_, err := s.Stat(t.Context(), "f")
	if !errors.Is(err, stage.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v with a timeout of 100 ms", took)
	}
}

func TestCancelBreaksCall(t *testing.T) {
	address, accepted := silent(t)
	s := open(t, hdfs.Options{NameNodes: []string{address}, Root: "/", User: "loader"})
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("the lease was lost")
	go func() {
		<-accepted
		cancel(because)
	}()
	begin := time.Now()
	if _, err := s.Stat(ctx, "f"); !errors.Is(err, because) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// proxy stands between a store and the NameNode.
type proxy struct {
	net.Listener
	target string

	mu   sync.Mutex
	lose string // a call whose answers are lost: the connection ends once it has been carried out
	lost int
	open []net.Conn
	made int
}

func newProxy(t *testing.T, target string) *proxy {
	p := &proxy{Listener: listen(t), target: target}
	go func() {
		for {
			c, err := p.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	t.Cleanup(p.cut)
	return p
}

func (p *proxy) serve(in net.Conn) {
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = in.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, in, out)
	p.made++
	p.mu.Unlock()
	var mute atomic.Bool
	go func() {
		_, _ = io.Copy(writer(func(b []byte) (int, error) { p.look(b, &mute); return out.Write(b) }), in)
	}()
	_, _ = io.Copy(writer(func(b []byte) (int, error) {
		if mute.Load() {
			return 0, io.ErrClosedPipe
		}
		return in.Write(b)
	}), out)
	_ = in.Close()
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// look mutes a connection on which the call goes by; a request names its method in plain bytes.
func (p *proxy) look(request []byte, mute *atomic.Bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose != "" && bytes.Contains(request, []byte(p.lose)) {
		mute.Store(true)
		p.lost++
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}

func throughProxy(t *testing.T) (*proxy, *hdfs.Store, *hdfs.Store) {
	stack := rig.SharedParts(t, rig.HDFS)
	o := options(t, stack)
	direct := open(t, o)
	p := newProxy(t, stack.HDFS.NameNode)
	o.NameNodes = []string{p.Addr().String()}
	return p, open(t, o), direct
}

// Clients are used again, and after their connection was lost at most one call fails.
func TestConnectionsAreReusedAndReplaced(t *testing.T) {
	p, s, _ := throughProxy(t)
	for range 10 {
		if _, err := s.List(t.Context(), "."); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.connections(); n != 1 {
		t.Errorf("10 calls made %d connections, want 1", n)
	}
	p.cut()
	if _, err := s.List(t.Context(), "."); err != nil && !errors.Is(err, stage.ErrUnreachable) {
		t.Errorf("the call after the cut: got %v, want ErrUnreachable or nil", err)
	}
	if _, err := s.List(t.Context(), "."); err != nil {
		t.Errorf("the call after that: %v", err)
	}
}

// The answer to every rename of a seal is lost: each time it ends with an error that may pass, and goes on from
// there the next time.
func TestSealSurvivesLostAnswers(t *testing.T) {
	p, s, direct := throughProxy(t)
	l, err := stage.NewLayout(stage.Owner{Ledger: "ledger", Run: "run", Job: "job"})
	if err != nil {
		t.Fatal(err)
	}
	m := stage.Manifest{Ledger: "ledger", Run: "run", Job: "job"}
	dir, err := l.AttemptDir(0, "token")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		c := stage.Chunk{Index: i, Path: dir + "/" + stage.ChunkName(0, i), Bytes: 4}
		put(t, direct, c.Path, "rows")
		m.Chunks = append(m.Chunks, c)
	}
	p.loseAnswers("rename2")
	failed := 0
	for err = stage.Seal(t.Context(), s, l, m); err != nil && failed < 10; err = stage.Seal(t.Context(), s, l, m) {
		if !errors.Is(err, stage.ErrUnreachable) {
			t.Fatalf("got %v, want ErrUnreachable", err)
		}
		failed++
	}
	// Two owner files, two chunks and _SUCCESS are renamed.
	if failed != 5 || p.lost != 5 {
		t.Errorf("%d seals failed and %d answers were lost, want 5: %v", failed, p.lost, err)
	}
	if err := stage.CheckSealed(t.Context(), direct, l, m); err != nil {
		t.Error(err)
	}
}

// A file whose last answer is lost is worth nothing, and says so.
func TestCloseWithLostAnswer(t *testing.T) {
	p, s, direct := throughProxy(t)
	f, err := s.Create(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("rows")); err != nil {
		t.Fatal(err)
	}
	p.loseAnswers("complete")
	if err := f.Close(); !errors.Is(err, stage.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
	if _, err := direct.Stat(t.Context(), "f"); !errors.Is(err, stage.ErrNotExist) {
		t.Errorf("after that: got %v, want that it was removed", err)
	}
}

func (p *proxy) loseAnswers(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = method
}
