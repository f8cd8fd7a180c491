package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// goOra and ojdbc are the two families of clients by their layouts.
var (
	goOra = caps{fieldVersion: version181ext, chrIsCLR: true, bigCLR: true, sb1Universal: true}
	ojdbc = caps{fieldVersion: version191, bigCLR: true, sb1Universal: true}
	thin  = caps{fieldVersion: version191, chrIsCLR: true, bigCLR: true}
	old   = caps{fieldVersion: 7}
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decoding returns a decoder of b that gets it in pieces of n bytes.
func decoding(b []byte, n int, c caps) *decoder {
	return &decoder{caps: c, fill: func() ([]byte, error) {
		if len(b) == 0 {
			return nil, io.EOF
		}
		piece := b[:min(n, len(b))]
		b = b[len(piece):]
		return bytes.Clone(piece), nil
	}}
}

func TestIntegers(t *testing.T) {
	for v, want := range map[int64]string{
		0: "00", 1: "0101", 255: "01ff", 256: "020100", 1 << 24: "0401000000", -1: "8101", -127: "817f",
		math.MaxInt64: "087fffffffffffffff", math.MinInt64 + 1: "887fffffffffffffff",
	} {
		var e encoder
		e.sint(v)
		if got := hex.EncodeToString(e.b); got != want {
			t.Errorf("%d: got %s, want %s", v, got, want)
		}
		if got := decoding(e.b, 1, caps{}).sint(); got != v {
			t.Errorf("%s: got %d, want %d", want, got, v)
		}
	}
}

func TestByteStrings(t *testing.T) {
	for _, c := range []caps{goOra, old} {
		for _, n := range []int{0, 1, 252, 253, 254, 32767, 32768, 100_000} {
			want := bytes.Repeat([]byte{'x'}, n)
			e := encoder{caps: c}
			e.clr(want)
			e.dalc(want)
			e.u8(0xAA)
			d := decoding(e.b, 1000, c)
			first, second, last := d.clr(), d.dalc(), d.u8()
			if !bytes.Equal(first, want) || !bytes.Equal(second, want) || last != 0xAA || d.err != nil {
				t.Errorf("%d bytes, big chunks %t: got %d and %d bytes, then %x (%v)", n, c.bigCLR, len(first), len(second), last, d.err)
			}
		}
	}
}

func TestFieldsThatDependOnTheClient(t *testing.T) {
	for _, c := range []struct {
		name string
		caps caps
		want string
	}{
		{"go-ora", goOra, "817f 026162"},
		{"ojdbc", ojdbc, "817f 6162"},
		{"thin", thin, "81 026162"},
	} {
		e := encoder{caps: c.caps}
		e.sb1(ora.ScaleFloating)
		e.chr([]byte("ab"))
		if got := hex.EncodeToString(e.b); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		d := decoding(e.b, 1, c.caps)
		if scale, text := d.sb1(), d.chr(2); scale != ora.ScaleFloating || string(text) != "ab" {
			t.Errorf("%s: read back %d and %q", c.name, scale, text)
		}
	}
}

// executeBytes is a request as go-ora 2.9.0 writes it: one NUMBER bind, three rows wanted.
const executeBytes = `02 80 29  00  01  01 08  01  01 0D  00 00  00 01 03  04 3F FF FF FF
	01  01 01  00 00 00 00 00  00 00  00 00 01 00 00 00 00 00  00 00 00  00 00 00 00 00  00 00
	08 53 45 4C 45 43 54 20 31
	01 01 00 00 00 00 00 00 01 01 00 02 80 00 00 00 00
	02 03 00 00 01 16 00 00 00 00 00 00 00 00
	07 04 C3 3D 01 01`

func TestExecuteRequest(t *testing.T) {
	raw := unhex(t, executeBytes)
	none := func(uint32) []oac { return nil }
	for _, pieces := range []int{1, 7, len(raw)} {
		d := decoding(raw, pieces, goOra)
		got := d.execute(none)
		if d.err != nil {
			t.Fatal(d.err)
		}
		want := executeRequest{
			Options: 0x8029, SQL: "SELECT 1", Prefetch: 3, I4: []int64{1, 0, 0, 0, 0, 0, 0, 1, 0, 0x8000, 0, 0, 0},
			Binds: []oac{{Type: ora.Type{Code: ora.Number, Bytes: 22}, Flags: 3}},
			Rows:  [][]ora.Value{{{0xC3, 0x3D, 1, 1}}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: got %+v, want %+v", pieces, got, want)
		}
		if d.u8(); !errors.Is(d.err, io.EOF) {
			t.Errorf("%d bytes are left over", len(d.buf)+1)
		}
	}
}

// TestRowsInKeptLayout is ojdbc's second execution of a DML: no text, no descriptions, but rows.
func TestRowsInKeptLayout(t *testing.T) {
	raw := unhex(t, `02 80 20  01 05  00 00  01  01 0D  00 00  00 00 00
		00 00  00 00 00 00 00  00 00  00 00 00 00 00 00 00 00  00 00 00  00 00 00 00 00  00 00
		00 01 02 00 00 00 00 00 00 00 00 00 00 00
		07 02 C1 02 01 61  07 02 C1 03 00`)
	kept := func(id uint32) []oac {
		if id != 5 {
			t.Errorf("layout of cursor %d asked", id)
		}
		return []oac{{Type: ora.Type{Code: ora.Number}}, {Type: ora.Type{Code: ora.Varchar2}}}
	}
	d := decoding(raw, len(raw), ojdbc)
	got := d.execute(kept)
	if d.err != nil {
		t.Fatal(d.err)
	}
	want := [][]ora.Value{{{0xC1, 2}, {'a'}}, {{0xC1, 3}, nil}}
	if !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("got %v, want %v", got.Rows, want)
	}
}

// TestLongBindsComeLast has a LONG bind in front of a short one.
func TestLongBindsComeLast(t *testing.T) {
	layout := []oac{{Type: ora.Type{Code: ora.Long}}, {Type: ora.Type{Code: ora.Number}}}
	d := decoding(unhex(t, "02 C1 02 03 61 62 63"), 100, goOra)
	got := d.bindRow(layout)
	if want := []ora.Value{ora.Value("abc"), {0xC1, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTimestampBindScale(t *testing.T) {
	d := decoding(unhex(t, "B4 03 00 01 09 01 0B 00 04 08 00 00 00 00 00 00 00 00 00"), 100, ojdbc)
	got := d.oac()
	if got.Type.Scale != 9 || got.Type.Bytes != 11 || got.Continuation != 0x8000000 || d.err != nil {
		t.Errorf("got %+v (%v)", got, d.err)
	}
}

func TestEndToEnd(t *testing.T) {
	for name, c := range map[string]struct {
		caps caps
		raw  string
	}{
		"thin":  {thin, "00 00 01 1A  01 01 02  01 01 07  00 00  00 00 00 00  00 00 00 00 00 00  00 00  02 69 64 07 6C 6F 61 64 63 74 6C"},
		"ojdbc": {ojdbc, "00 00 01 1A  01 01 02  01 01 07  00 00  00 00 00 00  00 00 00 00 00 00  00 00  69 64 6C 6F 61 64 63 74 6C"},
	} {
		d := decoding(unhex(t, c.raw), 3, c.caps)
		got := d.endToEnd()
		id, module, action := "id", "loadctl", ""
		if want := (endToEnd{ClientID: &id, Module: &module, Action: &action}); !reflect.DeepEqual(got, want) || d.err != nil {
			t.Errorf("%s: got %+v (%v)", name, got, d.err)
		}
	}
}

// TestReplyBytes pins a whole reply, byte by byte.
func TestReplyBytes(t *testing.T) {
	s := &session{enc: encoder{caps: goOra}, calls: 5}
	cols := []column{
		{Column: ora.Column{Name: "ID", Type: ora.Type{Code: ora.Number, Precision: 10, Bytes: 22}, Nullable: true}},
		{Column: ora.Column{Name: "NAME", Type: ora.Type{Code: ora.Varchar2, Bytes: 40, Chars: 40, Form: ora.FormDatabase}, Nullable: true}},
		{Column: ora.Column{Name: "TS", Type: ora.Type{Code: ora.Timestamp, Scale: 6, Bytes: 11}, Nullable: true}},
	}
	s.describe(cols)
	s.rowHeader(headerExecute, 3, 3)
	w := rowWriter{enc: &s.enc, cols: cols, compress: true}
	for i := range byte(3) {
		if err := w.write([]ora.Value{{0xC1, 2 + i}, ora.Value("n"), nil}); err != nil {
			t.Fatal(err)
		}
	}
	s.endOfCall(outcome{cursor: 2, rows: 3, kind: ora.KindSelect})
	want := unhex(t, `10 17 64657363726962652d7369676e61747572652d30303030
		01 49  01 03  5C
		02 00 0A 00 01 16 00 00 00 00 00 00 00 00  01 02  01 02 02 49 44  00 00 00 00
		01 80 00 00 01 28 00 00 00 00 02 03 69 01 01 28 02 3F FE  01 04  01 04 04 4E 41 4D 45  00 00 01 01 00
		B4 00 00 01 06 01 0B 00 00 00 00 00 00 00 00  01 02  01 02 02 54 53  00 00 01 02 00
		01 07 07 78 7E 04 04 18 05 27  00  02 1F E8  01 02  01 02  00
		06 22 01 03 00 01 03 00 00 00
		07 02 C1 02 01 6E 00   07 02 C1 03 01 6E 00   15 01 01 01 07 02 C1 04
		04 01 01 01 05 01 03 00 00 00 01 02 00 03 00 00 00 00 00  00 00 00 00 00  00 00 00 00 00  00 00 00 00  00 01 03`)
	if !bytes.Equal(s.enc.b, want) {
		t.Errorf("got  % x\nwant % x", s.enc.b, want)
	}
}

// FuzzRequests feeds any bytes, cut anywhere, to every request that a client can send. Nothing may panic,
// hang, or take memory that was not sent.
func FuzzRequests(f *testing.F) {
	for _, s := range []string{
		executeBytes, "01 05 01 19", "00 00 01 1A 01 01 02 01 01 07", "01 01 04 02 01 01 01 05 01 01 04 61 62 63 64",
		"FE 04 7F FF FF FF", "FF 02", "01 02 7F FF FF FF FF FF FF FF",
	} {
		raw, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
		if err != nil {
			f.Fatal(err)
		}
		for what := range byte(8) {
			f.Add(raw, what, byte(3))
		}
	}
	kept := func(uint32) []oac { return []oac{{Type: ora.Type{Code: ora.Long}}, {Type: ora.Type{Code: ora.Clob}}} }
	f.Fuzz(func(t *testing.T, raw []byte, what, piece byte) {
		c := []caps{goOra, ojdbc, thin, old}[what>>3&3]
		d := decoding(raw, int(piece)+1, c)
		switch what & 7 {
		case 0:
			d.execute(kept)
		case 1:
			d.reexecute(true, kept)
		case 2:
			d.reexecute(false, kept)
		case 3:
			d.auth()
		case 4:
			d.endToEnd()
		case 5:
			d.cursorList()
		case 6:
			d.applicationContext()
		case 7:
			d.freeLOBs()
		}
		if d.err != nil && !errors.Is(d.err, io.EOF) && !errors.Is(d.err, errDecode) {
			t.Errorf("error of another kind: %v", d.err)
		}
	})
}

func FuzzPackets(f *testing.F) {
	f.Add([]byte{0, 0, 0, 11, 12, 0x20, 0, 0, 1, 0, 2}, true)
	f.Add([]byte{0, 9, 0, 0, 6, 0, 0, 0, 1}, false)
	f.Add([]byte{0, 0x7F, 0xFF, 0xFF, 6, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, raw []byte, wide bool) {
		r := bytes.NewReader(raw)
		for {
			p, err := readPacket(r, wide)
			if err != nil {
				return
			}
			if p.isBreak() && p.isReset() {
				t.Fatal("a marker is a break and a reset")
			}
			_, _ = parseConnect(p.body)
		}
	})
}
