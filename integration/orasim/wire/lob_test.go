package wire_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
	goora "github.com/sijms/go-ora/v2"
)

var (
	clobType  = ora.Type{Code: ora.Clob, Bytes: 4000, Form: ora.FormDatabase}
	nclobType = ora.Type{Code: ora.Clob, Bytes: 4000, Form: ora.FormNational}
	blobType  = ora.Type{Code: ora.Blob, Bytes: 4000}
)

// TestLOBs reads LOBs in the two forms of go-ora: as LONG in the row, and by a locator and operations on it.
func TestLOBs(t *testing.T) {
	text, raw := strings.Repeat("cl가😀", 20_000), bytes.Repeat([]byte{0, 0xFE, 0xFF}, 40_000)
	f := newFake()
	f.query("SELECT LOBS", []ora.Column{column("N", numberType), column("C", clobType), column("NC", nclobType), column("B", blobType)},
		[]ora.Value{ora.EncodeInt(1), ora.Value(text), ora.EncodeNational(text), ora.Value(raw)},
		[]ora.Value{ora.EncodeInt(2), ora.Value("x"), ora.EncodeNational("가"), ora.Value{0}},
		[]ora.Value{ora.EncodeInt(3), nil, nil, nil})
	for _, options := range []string{"", "LOB FETCH=POST"} {
		db := open(t, start(t, f, nil), strings.ReplaceAll(options, " ", "%20"))
		rows, err := db.Query("SELECT LOBS")
		if err != nil {
			t.Fatalf("%q: %v", options, err)
		}
		for i, want := range []struct {
			text, national string
			raw            []byte
		}{{text, text, raw}, {"x", "가", []byte{0}}, {"", "", nil}} {
			if !rows.Next() {
				t.Fatalf("%q: row %d is missing: %v", options, i, rows.Err())
			}
			var n int
			var c, nc *string
			var b []byte
			if err := rows.Scan(&n, &c, &nc, &b); err != nil {
				t.Fatalf("%q: row %d: %v", options, i, err)
			}
			if n != i+1 || deref(c) != want.text || deref(nc) != want.national || !bytes.Equal(b, want.raw) {
				t.Errorf("%q: row %d: got %d, %d and %d characters and %d bytes", options, i, n, len(deref(c)), len(deref(nc)), len(b))
			}
		}
		if rows.Next() || rows.Err() != nil {
			t.Errorf("%q: more rows, or %v", options, rows.Err())
		}
		_ = rows.Close()
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestLOBBinds binds temporary LOBs, which the client creates, writes and frees.
func TestLOBBinds(t *testing.T) {
	text, raw := strings.Repeat("가나다😀", 10_000), bytes.Repeat([]byte{1, 0}, 50_000)
	f := newFake()
	var got []ora.Bind
	f.add("INSERT LOBS", canned{kind: ora.KindInsert, affected: func(binds []ora.Bind) (int64, error) {
		got = binds
		return 1, nil
	}})
	db := open(t, start(t, f, nil), "")
	if _, err := db.Exec("INSERT LOBS", goora.Clob{String: text, Valid: true}, goora.Blob{Data: raw, Valid: true}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || string(got[0].Value) != text || !bytes.Equal(got[1].Value, raw) {
		t.Errorf("got %d binds of other content", len(got))
	}
}

// TestFaultDamage finds exactly one value changed, the same one for the same seed.
func TestFaultDamage(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N FROM T", 100)
	s := start(t, f, nil)
	read := func() (all []string) {
		rows, err := open(t, s, "").Query("SELECT N FROM T")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var n, text string
			if err := rows.Scan(&n, &text); err != nil {
				t.Fatal(err)
			}
			all = append(all, n+" "+text)
		}
		return all
	}
	whole := read()
	s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "FROM T"}, Kind: wire.FaultDamage, AtRow: 57, Seed: 9})
	first, second := read(), read()
	for i := range whole {
		if (first[i] != whole[i]) != (i == 57) || first[i] != second[i] {
			t.Errorf("row %d: got %q and %q, without the fault %q", i, first[i], second[i], whole[i])
		}
	}
}

func TestFaultsInComments(t *testing.T) {
	f := newFake()
	sql := "SELECT /*orasim error code=1555 row=40*/ N FROM T"
	f.numbers(sql, 100)
	f.numbers("SELECT /*orasim nosuch*/ N FROM T", 1)
	for allowed, want := range map[bool]int{true: 1555, false: 0} {
		db := open(t, start(t, f, func(c *wire.Config) { c.CommentFaults = allowed }), "PREFETCH_ROWS=20")
		if n, err := count(t.Context(), db, sql); oraCode(err) != want || want != 0 && n != 40 {
			t.Errorf("comments allowed %t: got %d rows and %v, want ORA-%05d", allowed, n, err, want)
		}
		if _, err := count(t.Context(), db, "SELECT /*orasim nosuch*/ N FROM T"); allowed && oraCode(err) != 20000 {
			t.Errorf("an unknown kind: got %v, want ORA-20000", err)
		}
	}
}
