package parquet_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// What a referee found in a file.
type finding struct {
	Rows    [][]*string
	Columns []struct {
		Name, Physical string
		Length, Levels int
		Compression    string
		Encodings      []string
		Index          bool
		Min, Max       *string
		Nulls          int
	}
	CreatedBy string `json:"created_by"`
	Keys      map[string]string
	Groups    int
}

func referee(t *testing.T, name string, file []byte) finding {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), rig.Python(t), filepath.Join("testdata", "referee.py"), name, path)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var f finding
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// expected is what a referee prints of a cell: it keeps microseconds, and prints bytes in hex.
func expected(c stage.Column, cell string) string {
	switch c.Type.Kind {
	case extract.Binary:
		return fmt.Sprintf("hex:%x", cell)
	case extract.Timestamp:
		if whole, fraction, ok := strings.Cut(cell, "."); ok {
			fraction = strings.TrimRight(fraction[:min(len(fraction), 6)], "0")
			return strings.TrimSuffix(whole+"."+fraction, ".")
		}
	}
	return cell
}

func checkRows(t *testing.T, f finding, tab table) {
	t.Helper()
	if len(f.Rows) != len(tab.rows) {
		t.Fatalf("got %d rows, want %d", len(f.Rows), len(tab.rows))
	}
	for i, row := range tab.rows {
		for j, cell := range row {
			got, want := f.Rows[i][j], expected(tab.cols[j], cell)
			if cell == null && got != nil {
				t.Errorf("row %d, column %s: got %q, want NULL", i, tab.cols[j].Name, *got)
			}
			if cell != null && (got == nil || !agree(t, tab.cols[j], *got, want)) {
				t.Errorf("row %d, column %s of %v: got %v, want %q", i, tab.cols[j].Name, tab.cols[j].Type, deref(got), want)
			}
		}
	}
}

// agree compares floats by value: everybody writes them differently.
func agree(t *testing.T, c stage.Column, got, want string) bool {
	t.Helper()
	bits := map[extract.Kind]int{extract.Float32: 32, extract.Float64: 64}[c.Type.Kind]
	if bits == 0 {
		return got == want
	}
	a, b := parseFloat(t, got, bits), parseFloat(t, want, bits)
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func deref(s *string) string {
	if s == nil {
		return "NULL"
	}
	return fmt.Sprintf("%q", *s)
}

func TestRefereesAgree(t *testing.T) {
	small := parquet.Options{RowGroupRows: 1000, PageBytes: 8 << 10, DictionaryBytes: 16 << 10, Calendar: parquet.ProlepticCalendar}
	for _, tc := range []struct {
		name string
		tab  table
		opt  parquet.Options
	}{
		{"limits", limits(), small},
		{"no rows", table{cols: limits().cols}, small},
		{"random", random(3000), small},
		{"few texts", fewTexts(3000), small},
		{"limits, microseconds, zstd", inMicros(limits()), parquet.Options{Timestamps: parquet.Int64Micros, Codec: parquet.Zstd}},
		{"random, microseconds, zstd", inMicros(random(3000)), parquet.Options{Timestamps: parquet.Int64Micros, Codec: parquet.Zstd}},
	} {
		file := write(t, tc.tab, tc.opt, 250)
		for _, who := range []string{"pyarrow", "duckdb"} {
			t.Run(tc.name+" by "+who, func(t *testing.T) { checkRows(t, referee(t, who, file), tc.tab) })
		}
	}
}

// fewTexts is what dictionaries are for, and what they are not for any more: one value throughout, none, a few, NULL
// for whole pages, and few at first and then ever new ones.
func fewTexts(rows int) table {
	tab := table{cols: columns(text, text, text, text, text)}
	for i := range rows {
		row := []string{"the same", null, fmt.Sprint("grade ", i%5), null, fmt.Sprint("code ", i%3)}
		if i/(rows/3) == 1 {
			row[3] = strings.Repeat("x", i%20)
		}
		if i > rows/2 {
			row[4] = fmt.Sprint("order number ", i*i)
		}
		tab.rows = append(tab.rows, row)
	}
	return tab
}

// The file has the profile that doc.go promises, as another library sees it.
func TestProfile(t *testing.T) {
	tab := limits()
	f := referee(t, "pyarrow", write(t, tab, parquet.Options{Calendar: parquet.ProlepticCalendar}, 100))
	if f.CreatedBy != "loadctl" || f.Groups != 1 {
		t.Errorf("created by %q in %d row groups, want loadctl and 1", f.CreatedBy, f.Groups)
	}
	keys := map[string]string{"writer.time.zone": "UTC", "writer.date.proleptic": "true", "loadctl.int96.calendar": "proleptic"}
	if !maps.Equal(f.Keys, keys) {
		t.Errorf("footer has %v, want %v", f.Keys, keys)
	}
	for i, c := range f.Columns {
		want := tab.cols[i]
		physical := map[extract.Kind]string{extract.Decimal: "FIXED_LEN_BYTE_ARRAY", extract.Timestamp: "INT96", extract.Text: "BYTE_ARRAY", extract.Binary: "BYTE_ARRAY",
			extract.Float32: "FLOAT", extract.Float64: "DOUBLE"}[want.Type.Kind]
		if c.Name != want.Name || c.Physical != physical || c.Levels != 1 {
			t.Errorf("column %d is %s of %s with levels to %d, want %s of %s, optional", i, c.Name, c.Physical, c.Levels, want.Name, physical)
		}
		if c.Compression != "SNAPPY" || c.Index || c.Nulls != nulls(tab, i) {
			t.Errorf("column %s: %s, index %v, %d NULLs; want SNAPPY, none, %d", c.Name, c.Compression, c.Index, c.Nulls, nulls(tab, i))
		}
		low, high := extremes(t, tab, i)
		if deref(c.Min) != low || deref(c.Max) != high {
			t.Errorf("column %s of %v: bounds %s and %s, want %s and %s", c.Name, want.Type, deref(c.Min), deref(c.Max), low, high)
		}
	}
	for digits, length := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 10: 5, 11: 5, 12: 6, 14: 6, 15: 7, 16: 7, 18: 8, 19: 9, 28: 12, 35: 15, 36: 16, 38: 16} {
		if got := f.Columns[4+digits].Length; got != length {
			t.Errorf("a decimal of %d digits takes %d bytes, want %d", digits, got, length)
		}
	}
}

func nulls(tab table, column int) int {
	n := 0
	for _, row := range tab.rows {
		if row[column] == null {
			n++
		}
	}
	return n
}

// extremes are the least and the greatest of a column's decimals, as deref writes them; other types have no bounds.
func extremes(t *testing.T, tab table, column int) (low, high string) {
	t.Helper()
	least, greatest := "", ""
	for _, row := range tab.rows {
		if row[column] == null || tab.cols[column].Type.Kind != extract.Decimal {
			continue
		}
		if least == "" {
			least, greatest = row[column], row[column]
		}
		for at, sign := range map[*string]int{&least: -1, &greatest: 1} {
			order, err := extract.CompareDecimal(row[column], *at)
			if err != nil {
				t.Fatal(err)
			}
			if order == sign {
				*at = row[column]
			}
		}
	}
	if least == "" {
		return "NULL", "NULL"
	}
	return fmt.Sprintf("%q", least), fmt.Sprintf("%q", greatest)
}

// A dictionary is there where it saves something, and given up where it no longer does.
func TestDictionaries(t *testing.T) {
	tab := fewTexts(60_000)
	tab.cols = append(tab.cols, stage.Column{Name: "unique", Type: text})
	for i := range tab.rows {
		tab.rows[i] = append(tab.rows[i], fmt.Sprint("order number ", i))
	}
	f := referee(t, "pyarrow", write(t, tab, parquet.Options{DictionaryBytes: 256 << 10}, 4000))
	for i, want := range [][]string{
		{"PLAIN_DICTIONARY", "RLE"}, {"PLAIN", "RLE"}, {"PLAIN_DICTIONARY", "RLE"}, {"PLAIN", "PLAIN_DICTIONARY", "RLE"},
		{"PLAIN", "PLAIN_DICTIONARY", "RLE"}, {"PLAIN", "RLE"},
	} {
		if got := f.Columns[i].Encodings; !slices.Equal(got, want) {
			t.Errorf("column %s has encodings %v, want %v", f.Columns[i].Name, got, want)
		}
	}
	checkRows(t, f, tab)
}
