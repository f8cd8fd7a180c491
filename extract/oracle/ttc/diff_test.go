package ttc

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	_ "github.com/sijms/go-ora/v2"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

// create makes a random table in the server.
func (x *table) create(t testing.TB, server *orasim.Server) {
	t.Helper()
	var defs, places []string
	types := make([]ora.Type, len(x.fields))
	for i, f := range x.fields {
		defs = append(defs, fmt.Sprintf("C%d %s", i, f.declared))
		places = append(places, fmt.Sprintf(":%d", i+1))
		types[i] = f.bind
	}
	script(t, server, "CREATE TABLE RANDOM ("+strings.Join(defs, ", ")+");")
	insert(t, server, "INSERT INTO RANDOM VALUES ("+strings.Join(places, ", ")+")", types, x.values)
}

// checkImage compares what the server keeps, by its journal, with what was made.
func (x *table) checkImage(t *testing.T, server *orasim.Server) {
	t.Helper()
	db := server.Database().Store()
	image, err := db.Journal().Image(store.Name{Owner: "APP", Table: "RANDOM"}, db.SCN())
	if err != nil {
		t.Fatal(err)
	}
	if len(image.Rows) != len(x.values) {
		t.Fatalf("the journal has %d rows, want %d", len(image.Rows), len(x.values))
	}
	for i, row := range image.Rows {
		for j, v := range row {
			if !bytes.Equal(v, x.values[i][j]) {
				t.Fatalf("row %d, column %d (%s): the journal has % x, want % x", i, j, x.fields[j].declared, v, x.values[i][j])
			}
		}
	}
}

// byDriver reads the table with go-ora.
func (x *table) byDriver(ctx context.Context, server *orasim.Server) ([][]string, error) {
	db, err := sql.Open("oracle", server.URL("APP", testPassword)+"?SERVER+LOCATION=UTC&PREFETCH_ROWS=1000")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, x.query(1).Text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	for rows.Next() {
		row, scan := make([]any, len(x.fields)), make([]any, len(x.fields))
		for i := range row {
			scan[i] = &row[i]
		}
		if err := rows.Scan(scan...); err != nil {
			return nil, err
		}
		texts := make([]string, len(row))
		for i, v := range row {
			if texts[i], err = driverText(v, x.fields[i].typ); err != nil {
				return nil, fmt.Errorf("row %d, column %d: %w", len(out), i, err)
			}
		}
		out = append(out, texts)
	}
	return out, rows.Err()
}

// driverText is the canonical text of a value as go-ora returns it.
func driverText(v any, typ extract.Type) (string, error) {
	if v == nil {
		return "", nil
	}
	out := &extract.Vector{Type: typ}
	switch typ.Kind {
	case extract.Decimal:
		n, err := extract.ParseDecimal(fmt.Sprint(v), typ)
		return extract.FormatDecimal(n, typ.Scale), err
	case extract.Timestamp:
		return v.(time.Time).Format("2006-01-02 15:04:05.999999999"), nil
	case extract.Float32:
		if f, ok := v.(float64); ok {
			v = float32(f)
		}
		out.AppendFloat32(v.(float32))
		return string(out.AppendText(nil, 0)), nil
	case extract.Float64:
		out.AppendFloat64(v.(float64))
		return string(out.AppendText(nil, 0)), nil
	case extract.Binary:
		return string(v.([]byte)), nil
	default:
		return v.(string), nil
	}
}

// TestDifferential reads random rows of every type by this client and by go-ora, and compares both with what was
// written and with the server's journal.
func TestDifferential(t *testing.T) {
	const rows = 20_000
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	x := randomTable(seed, rows, fields())
	server := serve(t, wire.Config{})
	x.create(t, server)
	x.checkImage(t, server)
	s := connect(t, configOf(server))
	for _, c := range []struct{ fetch, rows, bytes int }{{1000, 0, 0}, {777, 1000, 0}, {4096, 333, 0}, {5000, 0, 10_000}, {1, 0, 0}} {
		want := x.texts
		q := x.query(c.fetch)
		if c.fetch == 1 { // a round trip a row
			q.Text += " WHERE C0 < 500"
			want = want[:500]
		}
		got, err := readTexts(t.Context(), s, q, c.rows, c.bytes)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		wantTexts(t, fmt.Sprintf("%+v", c), got, want)
	}
	got, err := x.byDriver(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "go-ora", got, x.texts)
}

func TestEverySDU(t *testing.T) {
	x := randomTable(7, 400, fields())
	server := serve(t, wire.Config{})
	x.create(t, server)
	for _, sdu := range []int{512, 513, 519, 640, 1000, 2048, 4099, 8192, 32768, 65536, 2 << 20} {
		cfg := configOf(server)
		cfg.SDU = sdu
		got, err := readTexts(t.Context(), connect(t, cfg), x.query(150), 64, 0)
		if err != nil {
			t.Fatalf("SDU %d: %v", sdu, err)
		}
		wantTexts(t, fmt.Sprint("SDU ", sdu), got, x.texts)
	}
}

// TestEveryCut has the server's bytes arrive in packets of so few that every message, number and value is cut at each
// of its bytes.
func TestEveryCut(t *testing.T) {
	x := randomTable(8, 60, fields())
	for _, version := range []int{7, 8, 9, 11, 12} {
		server := serve(t, wire.Config{FieldVersion: version, MaxReplyRows: 23})
		x.create(t, server)
		for _, size := range []int{1, 2, 3, 5, 7, 64, 251} {
			cfg := configOf(server)
			cfg.Address = repack(t, server.Addr(), size)
			got, err := readTexts(t.Context(), connect(t, cfg), x.query(50), 0, 0)
			if err != nil {
				t.Fatalf("field version %d, packets of %d: %v", version, size, err)
			}
			wantTexts(t, fmt.Sprint("packets of ", size), got, x.texts)
		}
	}
}

func TestWideTable(t *testing.T) {
	var fs []field
	for i := range 900 {
		fs = append(fs, fields()[i%len(fields())])
	}
	x := randomTable(9, 30, fs)
	server := serve(t, wire.Config{})
	x.create(t, server)
	got, err := readTexts(t.Context(), connect(t, configOf(server)), x.query(7), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "901 columns", got, x.texts)
}

// TestNumberText reads numbers as text, which must be the driver's: who reads may change from one run to the next.
func TestNumberText(t *testing.T) {
	x := randomTable(10, 1000, []field{number("NUMBER", 38, 20), number("NUMBER", 38, 0), number("NUMBER", 12, 2), number("NUMBER", 38, 38)})
	server := serve(t, wire.Config{})
	x.create(t, server)
	for i := range x.fields {
		x.fields[i].typ = extract.Type{Kind: extract.Text}
	}
	want, err := x.byDriver(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readTexts(t.Context(), connect(t, configOf(server)), x.query(100), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "numbers as text", got, want)
}

func TestNaN(t *testing.T) {
	nan := field{"BINARY_DOUBLE", extract.Type{Kind: extract.Float64}, ora.Type{Code: ora.BinaryDouble, Bytes: 8}, nil}
	x := &table{fields: []field{nan}, values: [][]ora.Value{{ora.EncodeDouble(math.NaN())}}, texts: [][]string{{"NaN"}}}
	server := serve(t, wire.Config{})
	x.create(t, server)
	got, err := readTexts(t.Context(), connect(t, configOf(server)), x.query(1), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "NaN", got, x.texts)
}
