package ttc

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/wire"
)

// overheard keeps what a client says to a server.
type overheard struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (o *overheard) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.Write(p)
}

// overhear is a relay to a server that keeps what the client says. It returns its address.
func overhear(t *testing.T, server string) (string, *overheard) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &overheard{}
	var all sync.WaitGroup
	all.Go(func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		up, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		all.Go(func() {
			_, _ = io.Copy(io.MultiWriter(up, o), client)
			up.Close()
		})
		_, _ = io.Copy(client, up)
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String(), o
}

// dataTypes finds the DATA TYPES message in what a client said.
func (o *overheard) dataTypes(t *testing.T) []byte {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.said.Bytes()
	b = b[binary.BigEndian.Uint16(b):] // CONNECT
	for len(b) > headerLen {
		n := int(binary.BigEndian.Uint32(b))
		if n > len(b) || n <= headerLen+flagsLen {
			break
		}
		if ttc := b[headerLen+flagsLen : n]; b[4] == packetData && ttc[0] == msgDataTypes {
			return ttc
		}
		b = b[n:]
	}
	t.Fatal("no DATA TYPES message")
	return nil
}

// TestDataTypesAreTheDrivers: we ask for values in the same forms as go-ora, which real servers are known to take.
func TestDataTypesAreTheDrivers(t *testing.T) {
	for _, version := range []int{7, 8, 12} {
		server := serve(t, wire.Config{FieldVersion: version})
		cfg := configOf(server)
		var ours, theirs *overheard
		cfg.Address, ours = overhear(t, server.Addr())
		connect(t, cfg)
		address, theirs := overhear(t, server.Addr())
		db, err := sql.Open("oracle", strings.Replace(server.URL("APP", testPassword), server.Addr(), address, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := ours.dataTypes(t), theirs.dataTypes(t); !bytes.Equal(got, want) {
			t.Errorf("field version %d: we say %d bytes, go-ora says %d; ours ends with % x, its with % x", version,
				len(got), len(want), got[len(got)-40:], want[len(want)-40:])
		}
	}
}
