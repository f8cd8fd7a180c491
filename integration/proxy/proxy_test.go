package proxy

import (
	"encoding/binary"
	"net"
	"testing"
	"time"
)

// server answers every frame with one that says FINISHED, after a login of one step, and tells what it got.
func server(t *testing.T) (addr string, got <-chan string, gone <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	calls, end := make(chan string, 10), make(chan struct{}, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { c.Close(); end <- struct{}{} }()
				for range 2 { // the mechanism, then the password
					if _, err := readFrame(c, 1); err != nil {
						return
					}
				}
				if _, err := c.Write([]byte{saslComplete, 0, 0, 0, 0}); err != nil {
					return
				}
				for {
					m, err := readFrame(c, 0)
					if err != nil {
						return
					}
					calls <- method(m)
					if _, err := c.Write(frame("reply", string(finished))); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), calls, end
}

// frame is a Thrift message of a name and some content.
func frame(name, content string) []byte {
	body := binary.BigEndian.AppendUint32(nil, 0x80010001)
	body = binary.BigEndian.AppendUint32(body, uint32(len(name)))
	body = append(append(body, name...), content...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// login connects through the proxy.
func login(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte{1, 0, 0, 0, 5, 'P', 'L', 'A', 'I', 'N', saslOK, 0, 0, 0, 3, 0, 'u', 0}); err != nil {
		t.Fatal(err)
	}
	if m, err := readFrame(c, 1); err != nil || m[0] != saslComplete {
		t.Fatalf("login answered %v, %v", m, err)
	}
	return c
}

func TestFates(t *testing.T) {
	statement := frame("ExecuteStatement", "INSERT OVERWRITE TABLE t")
	for name, test := range map[string]struct {
		rule                   func(Call) Fate
		answered, sent, serves bool // the client has its answer; the server its request; and it keeps its connection
	}{
		"pass":             {nil, true, true, true},
		"cut":              {func(Call) Fate { return Cut }, false, false, false},
		"sent":             {func(Call) Fate { return CutSent }, false, true, false},
		"answer lost":      {func(c Call) Fate { return map[bool]Fate{true: Cut}[c.Finished] }, false, true, false},
		"client is gone":   {func(Call) Fate { return Lose }, false, true, true},
		"answer to no one": {func(c Call) Fate { return map[bool]Fate{true: Lose}[c.Answered && c.Publish] }, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			addr, got, gone := server(t)
			p, err := Listen(addr)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c := login(t, p)
			p.Rule(test.rule)
			if _, err := c.Write(statement); err != nil {
				t.Fatal(err)
			}
			if _, err := readFrame(c, 0); (err == nil) != test.answered {
				t.Errorf("the client's answer: %v, want one: %v", err, test.answered)
			}
			if test.sent {
				if m := <-got; m != "ExecuteStatement" {
					t.Errorf("the server got %q", m)
				}
			}
			if n := p.Statements(); (n == 1) != test.sent {
				t.Errorf("%d statements counted, want one: %v", n, test.sent)
			}
			if !test.serves {
				<-gone
			}
			select {
			case <-gone:
				t.Error("the server's end is cut")
			default:
			}
			if err := p.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if test.serves {
				<-gone
			}
		})
	}
}
