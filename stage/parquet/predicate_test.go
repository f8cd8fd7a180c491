package parquet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// predicate is a comparison of a column with a value, and how many rows of the table are so.
type predicate struct {
	Column, Operator, Value, Type string
	want                          int
}

// ascending is a table whose row groups have bounds that a reader can go by: values rise from far below zero to far
// above, in all forms of decimals, through groups with NULLs and one of nothing else.
func ascending() table {
	tab := table{cols: columns(decimal(4, 0), decimal(9, 2), decimal(18, 2), decimal(19, 0), decimal(38, 10), timestamp, text)}
	for i := range 2000 {
		n := i - 1000
		row := []string{fmt.Sprint(n), fmt.Sprintf("%d.25", n*1000), fmt.Sprintf("%d.00", n*1_000_000_000), fmt.Sprintf("%d000000000000", n*1000),
			fmt.Sprintf("%d00000000000000000.0000000001", n*1000), extract.FormatTimestamp(int32(n*100), 0), fmt.Sprintf("text %04d", i)}
		for j := range row {
			if i%7 == j || i/100 == 12 {
				row[j] = null
			}
		}
		tab.rows = append(tab.rows, row)
	}
	return tab
}

var ascendingOptions = parquet.Options{RowGroupRows: 100, PageBytes: 1 << 10, Timestamps: parquet.Int64Micros}

// predicates compares every column with values about zero, within a group, at the ends, and beyond.
func predicates(t *testing.T, tab table, rows ...int) []predicate {
	t.Helper()
	var list []predicate
	for j, c := range tab.cols {
		for _, i := range rows {
			for tab.rows[i][j] == null {
				i++
			}
			for _, operator := range []string{"=", "<", ">="} {
				p := predicate{Column: c.Name, Operator: operator, Value: tab.rows[i][j], Type: hiveType(c.Type)}
				for _, row := range tab.rows {
					if row[j] != null && holds(t, c, row[j], operator, p.Value) {
						p.want++
					}
				}
				list = append(list, p)
			}
		}
	}
	return list
}

func holds(t *testing.T, c stage.Column, cell, operator, value string) bool {
	t.Helper()
	order := strings.Compare(cell, value)
	if c.Type.Kind == extract.Decimal {
		var err error
		if order, err = extract.CompareDecimal(cell, value); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]bool{"=": order == 0, "<": order < 0, ">=": order >= 0}[operator]
}

// Readers that leave out row groups by their bounds find every row.
func TestRefereesFindRows(t *testing.T) {
	tab := ascending()
	list := predicates(t, tab, 0, 3, 150, 994, 1000, 1006, 1990)
	path := filepath.Join(t.TempDir(), "file.parquet")
	if err := os.WriteFile(path, write(t, tab, ascendingOptions, 250), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"pyarrow", "duckdb"} {
		t.Run(who, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), rig.Python(t), filepath.Join("testdata", "referee.py"), who, path)
			cmd.Stdin, cmd.Stderr = strings.NewReader(string(asked)), t.Output()
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var found struct{ Counts []int }
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatal(err)
			}
			if len(found.Counts) != len(list) {
				t.Fatalf("got %d counts, want %d", len(found.Counts), len(list))
			}
			for i, p := range list {
				if found.Counts[i] != p.want {
					t.Errorf("%s %s %s: got %d rows, want %d", p.Column, p.Operator, p.Value, found.Counts[i], p.want)
				}
			}
		})
	}
}

// Hive pushes such comparisons down to its readers, to which the bounds of row groups and the dictionaries are known.
func TestHiveFindsRows(t *testing.T) {
	stack := rig.Shared(t)
	h := connect(t, stack)
	tab := ascending()
	target := external(t, h, tab, ascendingOptions)
	list := predicates(t, tab, 850)
	h.rows("SET hive.optimize.index.filter=true")
	for _, settings := range [][]string{
		{"SET hive.fetch.task.conversion=more"}, // the row reader, without a job
		{"SET hive.fetch.task.conversion=none", "SET hive.vectorized.execution.enabled=true"},
	} {
		for _, s := range settings {
			h.rows(s)
		}
		for _, p := range list {
			if p.Operator == "<" { // as >= goes
				continue
			}
			got := h.rows(fmt.Sprintf("SELECT `%s` FROM default.%s WHERE `%s` %s CAST('%s' AS %s)", p.Column, target, p.Column, p.Operator, p.Value, p.Type))
			if len(got) != p.want {
				t.Errorf("%s: %s %s %s: got %d rows, want %d", settings[0], p.Column, p.Operator, p.Value, len(got), p.want)
			}
		}
	}
}
