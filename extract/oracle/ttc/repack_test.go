package ttc

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// repack is a relay to a server whose DATA packets it cuts into packets of size bytes. It returns its address.
func repack(t testing.TB, server string, size int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { relay(client, server, size) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

func relay(client net.Conn, address string, size int) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	cutPackets(client, server, size)
	client.Close()
	<-done
}

// cutPackets copies packets until there are no more.
func cutPackets(to io.Writer, from io.Reader, size int) {
	wide := false
	for {
		head := make([]byte, headerLen)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(head))
		if wide {
			n = int(binary.BigEndian.Uint32(head))
		}
		body := make([]byte, n-headerLen)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if head[4] != packetData {
			wide = wide || head[4] == packetAccept
			if _, err := to.Write(append(head, body...)); err != nil {
				return
			}
			continue
		}
		if !sendCut(to, body, size) {
			return
		}
	}
}

func sendCut(to io.Writer, body []byte, size int) bool {
	var out []byte
	flags, ttc := body[:flagsLen], body[flagsLen:]
	for len(ttc) > 0 {
		n := min(size, len(ttc))
		out = binary.BigEndian.AppendUint32(out, uint32(headerLen+flagsLen+n))
		out = append(out, packetData, 0, 0, 0)
		out = append(append(out, flags...), ttc[:n]...)
		ttc = ttc[n:]
	}
	_, err := to.Write(out)
	return err == nil
}
