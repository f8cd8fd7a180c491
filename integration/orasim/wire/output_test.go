package wire_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	goora "github.com/sijms/go-ora/v2"
)

// TestOutputs gives values and an open query back through the binds of a block.
func TestOutputs(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N", 60)
	f.add("BEGIN OUT; END;", canned{kind: ora.KindPLSQL, outputs: func([]ora.Bind) []ora.Output {
		query := &fakeRows{t: &fakeStatement{canned: f.statements["SELECT N"]}}
		return []ora.Output{
			{Bind: 1, Value: ora.Value("가 text")},
			{Bind: 2, Columns: f.statements["SELECT N"].columns, Cursor: query},
			{Bind: 3}, // NULL
		}
	}})
	db := open(t, start(t, f, nil), "")
	var (
		text, none string
		cursor     goora.RefCursor
	)
	_, err := db.Exec("BEGIN OUT; END;", "in", goora.Out{Dest: &text, Size: 40}, sql.Out{Dest: &cursor}, goora.Out{Dest: &none, Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	if text != "가 text" || none != "" {
		t.Errorf("got %q and %q, want a text and nothing", text, none)
	}
	rows, err := cursor.Query()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	row := make([]driver.Value, 2)
	n := 0
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		n++
	}
	if !errors.Is(err, io.EOF) || n != 60 {
		t.Errorf("read %d rows from the cursor (%v), want 60", n, err)
	}
}
