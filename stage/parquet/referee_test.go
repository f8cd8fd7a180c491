package parquet_test

import (
	"encoding/json"
	"fmt"
	"maps"
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
		Bounds, Index  bool
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
			if cell != null && (got == nil || *got != want) {
				t.Errorf("row %d, column %s of %v: got %v, want %q", i, tab.cols[j].Name, tab.cols[j].Type, deref(got), want)
			}
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "NULL"
	}
	return fmt.Sprintf("%q", *s)
}

func TestRefereesAgree(t *testing.T) {
	for name, tab := range map[string]table{
		"limits": limits(), "no rows": {cols: limits().cols}, "random": random(3000),
	} {
		file := write(t, tab, parquet.Options{RowGroupRows: 1000, PageBytes: 8 << 10, DictionaryBytes: 16 << 10, Calendar: parquet.ProlepticCalendar}, 250)
		for _, who := range []string{"pyarrow", "duckdb"} {
			t.Run(name+" by "+who, func(t *testing.T) { checkRows(t, referee(t, who, file), tab) })
		}
	}
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
		physical := map[extract.Kind]string{extract.Decimal: "FIXED_LEN_BYTE_ARRAY", extract.Timestamp: "INT96", extract.Text: "BYTE_ARRAY", extract.Binary: "BYTE_ARRAY"}[want.Type.Kind]
		if c.Name != want.Name || c.Physical != physical || c.Levels != 1 {
			t.Errorf("column %d is %s of %s with levels to %d, want %s of %s, optional", i, c.Name, c.Physical, c.Levels, want.Name, physical)
		}
		if c.Compression != "SNAPPY" || c.Bounds || c.Index || c.Nulls != nulls(tab, i) {
			t.Errorf("column %s: %s, bounds %v, index %v, %d NULLs; want SNAPPY, none, none, %d", c.Name, c.Compression, c.Bounds, c.Index, c.Nulls, nulls(tab, i))
		}
		dictionary := slices.Contains(c.Encodings, "RLE_DICTIONARY")
		if dictionary != (want.Type.Kind == extract.Text) {
			t.Errorf("column %s of %v has encodings %v", c.Name, want.Type, c.Encodings)
		}
	}
	for digits, length := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 10: 5, 11: 5, 12: 6, 14: 6, 15: 7, 16: 7, 18: 8, 19: 9, 28: 12, 35: 15, 36: 16, 38: 16} {
		if got := f.Columns[2+digits].Length; got != length {
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
