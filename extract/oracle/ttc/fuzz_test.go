package ttc

import (
	"bytes"
	"io"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

// FuzzPackets reads whatever comes as packets of any kind: an end or an error, never a panic or a loop.
func FuzzPackets(f *testing.F) {
	f.Add(packets(unhexText(f, exampleDescribe+exampleHeader+exampleRows+exampleParameters+exampleEnd), 40))
	f.Add(append(packets([]byte{9, 1, 1, 1, 2}, 3), 0, 0, 0, 11, packetMarker, 0, 0, 0, 1, 0, 1, 0, 0, 0, 11, packetMarker, 0, 0, 0, 1, 0, 2))
	f.Add(packets([]byte{23, 5, 1, 1, 1, 1, 1, 0, 0, 1, 163, 0, 23, 1, 23, 2, 1, 4, 1, 23, 4, 0, 0, 0, 0, 0, 0, 15, 1, 1, 1, 1, 0, 1, 'x'}, 5))
	f.Add([]byte{0, 0, 0, 10, packetData, 0, 0, 0, 0, endOfFile})
	f.Add([]byte{0x7F, 0, 0, 0, packetControl, 0, 0, 0})
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := hearing(stream)
		for s.in.err == nil {
			switch m := s.in.message(); m {
			case msgEnd:
				s.end()
			case msgDescribe:
				s.describe()
			case msgRowHeader:
				s.in.rowHeader(nil)
			default:
				_ = s.other(m)
			}
		}
	})
}

// FuzzConnect reads whatever comes in answer to CONNECT, and, where it is an ACCEPT, through the negotiation and both
// messages of a login.
func FuzzConnect(f *testing.F) {
	accept := packet(packetAccept, acceptBody(func([]byte) {}))
	f.Add(accept)
	f.Add(packet(packetRefuse, []byte("\x22\x00\x00\x0B(ERR=12514)")))
	f.Add(packet(packetRedirect, []byte("\x00\x14(HOST=h)(PORT=1521)(")))
	protocol := append([]byte{1, 6, 0, 'x', 0, 0x69, 3, 1, 0, 0, 0, 13, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 7, 0xD0, 0, 42}, make([]byte, 42)...)
	protocol = append(append(protocol, 7), 2, 1, 0, 1, 0x18, 0, 0x77)
	types := append(append([]byte{2}, make([]byte, 11)...), 0, 1, 0, 1, 0, 1, 0, 0, 0, 0)
	key := unhexText(f, `08 01 01 01 0D 0D 415554485F5646525F44415441 01 02 02 4141 02 48 15`)
	f.Add(append(append(accept, packets(append(protocol, types...), 20)...), packets(append(key, unhexText(f, exampleEnd)...), 20)...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s, next, err := open(canned{Reader: bytes.NewReader(stream)}, Config{Address: "h:1", Service: "s", User: "u", Password: "p", SDU: 8192})
		if err == nil && next == "" {
			t.Fatalf("logged in to %x: %v", stream, s)
		}
	})
}

// FuzzRows decodes whatever comes after a description. What a batch holds is always whole.
func FuzzRows(f *testing.F) {
	f.Add(unhexText(f, exampleHeader+exampleRows+exampleParameters+exampleEnd+exampleSecond+exampleNoMore), uint8(9), uint8(2))
	f.Add(unhexText(f, exampleHeader+`07 02 C1 02 FE 02 00 05 6E 61 6D 65 31 00 07 78 7C 02 1E 0F 1F 2E 00`+exampleEnd), uint8(1), uint8(0))
	f.Add(unhexText(f, exampleHeader+`07 02 FF 65 FD FF 00`+exampleEnd), uint8(200), uint8(1))
	f.Add(unhexText(f, `15 01 01 0F 15 01 01 00 07`), uint8(3), uint8(1))
	describe := unhexText(f, exampleDescribe)
	f.Fuzz(func(t *testing.T, rows []byte, size, batchRows uint8) {
		s := hearing(packets(append(describe[:len(describe):len(describe)], rows...), int(size)+1))
		cols := exampleQuery()
		r, err := s.Query(t.Context(), Query{Text: "SELECT", Fetch: 3, Columns: cols})
		if err != nil {
			return
		}
		b := extract.NewBatch(cols, int(batchRows), 0)
		for {
			err := r.Next(t.Context(), b)
			checkBatch(t, b, err)
			if err != nil {
				return
			}
		}
	})
}

func checkBatch(t *testing.T, b *extract.Batch, err error) {
	t.Helper()
	if err == io.EOF && b.Rows != 0 || err == nil && b.Rows == 0 || b.MaxRows > 0 && b.Rows > b.MaxRows {
		t.Fatalf("%d rows, %v", b.Rows, err)
	}
	if err != nil {
		b.Truncate(b.Rows)
	}
	for i := range b.Cols {
		if n := b.Cols[i].Len(); n != b.Rows {
			t.Fatalf("column %d has %d values of %d rows", i, n, b.Rows)
		}
	}
}
