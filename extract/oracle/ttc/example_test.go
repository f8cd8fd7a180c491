package ttc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// canned is a connection to a server that says what it says and listens to nothing.
type canned struct {
	net.Conn
	io.Reader
}

func (c canned) Read(p []byte) (int, error)     { return c.Reader.Read(p) }
func (canned) Write(p []byte) (int, error)      { return len(p), nil }
func (canned) Close() error                     { return nil }
func (canned) SetDeadline(time.Time) error      { return nil }
func (canned) SetReadDeadline(time.Time) error  { return nil }
func (canned) SetWriteDeadline(time.Time) error { return nil }

// hearing is a session, logged in to field version 11, whose server sends these packets.
func hearing(packets []byte) *Session {
	l := newLink(canned{Reader: bytes.NewReader(packets)})
	l.wide, l.sdu = true, 8192
	s := &Session{link: l, in: newInput(l), facts: facts{fieldVersion: 11, callStatus: true, endToEnd: true}}
	s.in.bigChunk, s.out.bigChunk = true, true
	return s
}

// packets are TTC bytes in DATA packets of so many.
func packets(ttc []byte, size int) []byte {
	var out bytes.Buffer
	sendCut(&out, append([]byte{0, 0}, ttc...), size)
	return out.Bytes()
}

func unhexText(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Messages of a server of field version 11, put together by hand from what is known of the protocol: none of these
// bytes comes from the stand-in.
const (
	exampleDescribe = `
		10  17 0102030405060708090A0B0C0D0E0F1011121314151617
		01 50  01 04  5C
		02 00 0A 00 01 16 00 00 00 00 00 00 00 00  01 02 01 02 02 49 44  00 00 00 00
		01 80 00 00 01 28 00 00 00 00 02 03 69 01 01 28 02 3F FE  01 04 01 04 04 4E 41 4D 45  00 00 01 01 00
		0C 00 00 00 01 07 00 00 00 00 00 00 00 00  01 01 01 01 01 44  00 00 01 02 00
		B4 00 00 01 06 01 0B 00 00 00 00 00 00 00 00  01 02 01 02 02 54 53  00 00 01 03 00
		01 07 07 78 7E 04 04 18 05 27  00  02 1F E8  01 02  01 02  00`
	exampleHeader = `06 22 01 04 00 01 03 00 00 00`
	exampleRows   = `
		07 02 C1 02 08 6E C3 A2 6D 65 2D 31 20 07 78 7C 03 0F 0F 1F 2E 0B 78 7C 03 0F 0F 1F 2F 07 5B CA 00
		07 02 C1 03 07 6E C3 A2 6D 65 2D 32 07 78 7C 03 0F 0F 1F 2E 0B 78 7C 03 0F 0F 1F 2F 07 5B CA 00
		15 01 03 0B 07 02 C1 04 07 6E C3 A2 6D 65 2D 33 00`
	exampleParameters = `08 01 06 03 0F 42 40 00 01 02 00 00 00  00 00 00`
	exampleEnd        = `04 01 01 01 05 01 03 00 00 00 01 02 00 03 00 00 00 00 00  00 00 00 00 00  00 00 00 00 00  00 00 00 00  00 01 03`
	exampleNoMore     = `04 01 01 01 06 01 04 02 05 7B 00 00 01 02 00 03 00 00 00 00 00  00 00 00 00 00  00 00 00 00 00  00 00 00 00
		02 05 7B 01 04 19 4F52412D30313430333A206E6F206461746120666F756E640A`
	// The first row of the second reply leaves all but its number out: they are those of the row before.
	exampleSecond = `06 02 01 04 00 01 03 00 01 01 01 01 00  07 02 C1 05`
)

func exampleQuery() []extract.Column {
	return []extract.Column{
		{Name: "ID", Declared: "NUMBER(10)", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
		{Name: "NAME", Declared: "VARCHAR2(40)", Type: extract.Type{Kind: extract.Text}},
		{Name: "D", Declared: "DATE", Type: extract.Type{Kind: extract.Timestamp}},
		{Name: "TS", Declared: "TIMESTAMP(6)", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}},
	}
}

// TestReplyByHand reads two replies by batches of every size, cut at every byte. The second one refers by the bit
// vector of its header to the last row of the first, which is in a batch that has been reset since.
func TestReplyByHand(t *testing.T) {
	ttc := unhexText(t, exampleDescribe+exampleHeader+exampleRows+exampleParameters+exampleEnd+exampleSecond+exampleNoMore)
	want := [][]string{
		{"1", "nâme-1 ", "2024-03-15 14:30:45", "2024-03-15 14:30:46.123456"},
		{"2", "nâme-2", "2024-03-15 14:30:45", "2024-03-15 14:30:46.123456"},
		{"3", "nâme-3", "2024-03-15 14:30:45", ""},
		{"4", "nâme-3", "2024-03-15 14:30:45", ""},
	}
	for size := range len(ttc) {
		for _, rows := range []int{0, 1, 2, 3} {
			s := hearing(packets(ttc, size+1))
			got, err := readTexts(t.Context(), s, Query{Text: "SELECT", Fetch: 3, Columns: exampleQuery()}, rows, 0)
			if err != nil {
				t.Fatalf("packets of %d, batches of %d: %v", size+1, rows, err)
			}
			wantTexts(t, "by hand", got, want)
			if left := s.in.end - s.in.pos; left != 0 {
				t.Fatalf("%d bytes are left", left)
			}
		}
	}
}

func TestDescribeByHand(t *testing.T) {
	s := hearing(packets(unhexText(t, exampleDescribe), 1000))
	if s.in.message() != msgDescribe {
		t.Fatal("no description")
	}
	got := s.describe()
	want := []Column{
		{Name: "ID", Type: typeNumber, Precision: 10, Length: 22}, {Name: "NAME", Type: typeVarchar2, Length: 40},
		{Name: "D", Type: typeDate, Length: 7}, {Name: "TS", Type: typeTimestamp, Scale: 6, Length: 11},
	}
	if s.in.err != nil || len(got) != len(want) {
		t.Fatalf("%d columns, %v", len(got), s.in.err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("column %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestBreakAtAnyByte: the server may break a reply off anywhere; what came of it is void, and its error is the result.
func TestBreakAtAnyByte(t *testing.T) {
	head := unhexText(t, exampleDescribe)
	ttc := append(append([]byte(nil), head...), unhexText(t, exampleHeader+exampleRows)...)
	failed := unhexText(t, `04 01 01 01 06 01 04 02 06 13 00 00 01 02 00 03 00 00 00 00 00  00 00 00 00 00  00 00 00 00 00  00 00 00 00
		02 06 13 00 09 4F52412D3031353535`)
	marker := func(what byte) []byte { return []byte{0, 0, 0, 11, packetMarker, 0, 0, 0, 1, 0, what} }
	for at := len(head); at < len(ttc); at++ {
		stream := bytes.Join([][]byte{packets(ttc[:at], 1000), marker(1), marker(markerReset), packets(failed, 1000)}, nil)
		s := hearing(stream)
		_, err := readTexts(t.Context(), s, Query{Text: "SELECT", Fetch: 3, Columns: exampleQuery()}, 0, 0)
		wantCode(t, err, 1555)
		if s.Broken() {
			t.Fatalf("broken off after %d bytes: %v", at, s.in.err)
		}
	}
}

// TestColumnOfNoLength: a column that is always NULL has no byte in the rows.
func TestColumnOfNoLength(t *testing.T) {
	describe := strings.Replace(exampleDescribe, "01 80 00 00 01 28", "01 80 00 00 00", 1)
	ttc := unhexText(t, describe+exampleHeader+`07 02 C1 02 07 78 7C 03 0F 0F 1F 2E 00`+exampleParameters+exampleNoMore)
	ttc[len(ttc)-27] = 1 // one row in all
	got, err := readTexts(t.Context(), hearing(packets(ttc, 7)), Query{Text: "SELECT", Fetch: 3, Columns: exampleQuery()}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "no length", got, [][]string{{"1", "", "2024-03-15 14:30:45", ""}})
}

// TestValueErrorCountsRows: a message between two rows changes nothing about the number of a bad one.
func TestValueErrorCountsRows(t *testing.T) {
	row := "07 02 C1 02 01 6E 07 78 7C 03 0F 0F 1F 2E 00"
	ttc := unhexText(t, exampleDescribe+exampleHeader+row+row+"09 01 01 01 05"+row+strings.Replace(row, "02 C1 02", "02 FF 65", 1))
	_, err := readTexts(t.Context(), hearing(packets(ttc, 50)), Query{Text: "SELECT", Fetch: 9, Columns: exampleQuery()}, 0, 0)
	var bad *ValueError
	if !errors.As(err, &bad) || bad.Row != 4 || bad.Column != "ID" || bad.Value != "ff 65" {
		t.Errorf("err = %v, want a ValueError of row 4", err)
	}
}
