package parquet_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/beltran/gohive"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// hive is a session of the rig's HiveServer2, through a client that is not ours.
type hive struct {
	*testing.T
	conn *gohive.Connection
}

func connect(t *testing.T, stack *rig.Stack) hive {
	t.Helper()
	conf := gohive.NewConnectConfiguration()
	conf.Username, conf.Password, conf.PollIntervalInMillis = stack.Hive.User, stack.Hive.Password, 50
	conn, err := gohive.Connect(stack.Hive.Host, stack.Hive.Port, "CUSTOM", conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return hive{t, conn}
}

// rows runs a statement and returns its result as text.
func (h hive) rows(statement string) [][]string {
	h.Helper()
	ctx := context.Background()
	c := h.conn.Cursor()
	defer c.Close()
	if c.Exec(ctx, statement); c.Err != nil {
		h.Fatalf("%.200s: %v", statement, c.Err)
	}
	if !strings.HasPrefix(statement, "SELECT") {
		return nil
	}
	description := c.Description()
	var rows [][]string
	for c.HasMore(ctx) {
		m := c.RowMap(ctx)
		if c.Err != nil {
			h.Fatal(c.Err)
		}
		row := make([]string, len(description))
		for i, d := range description {
			switch v := m[d[0]].(type) {
			case nil:
				row[i] = null
			case []byte:
				row[i] = string(v)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		rows = append(rows, row)
	}
	if c.Err != nil {
		h.Fatal(c.Err)
	}
	return rows
}

func hiveType(typ extract.Type) string {
	switch typ.Kind {
	case extract.Text:
		return "string"
	case extract.Timestamp:
		return "timestamp"
	case extract.Float32:
		return "float"
	case extract.Float64:
		return "double"
	default:
		return typ.String()
	}
}

// external puts an external Hive table over a file with a table's rows. The rig's HiveServer2 is on this host, so the
// file needs no HDFS.
func external(t *testing.T, h hive, tab table, opt parquet.Options) string {
	t.Helper()
	dir := t.TempDir()
	file := write(t, tab, opt, 250)
	if err := os.WriteFile(filepath.Join(dir, "part-00000-00000.parquet"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	name := "parquet_test_" + strings.ToLower(rand.Text())
	var ddl []string
	for _, c := range tab.cols {
		ddl = append(ddl, fmt.Sprintf("`%s` %s", c.Name, hiveType(c.Type)))
	}
	h.rows(fmt.Sprintf("CREATE EXTERNAL TABLE default.%s (%s) STORED AS PARQUET LOCATION 'file://%s' TBLPROPERTIES ('external.table.purge'='false')",
		name, strings.Join(ddl, ", "), dir))
	t.Cleanup(func() { h.rows("DROP TABLE default." + name) })
	return name
}

// Hive reads what was written, by its row reader and by its vectorised one.
func TestHiveAgrees(t *testing.T) {
	stack := rig.Shared(t)
	h := connect(t, stack)
	small := parquet.Options{RowGroupRows: 1000, PageBytes: 8 << 10, DictionaryBytes: 16 << 10}
	for _, tc := range []struct {
		name string
		tab  table
		opt  parquet.Options
	}{
		{"limits", limits(), small},
		{"random", random(3000), small},
		{"few texts", fewTexts(3000), small},
		{"no rows", table{cols: limits().cols}, small},
		{"random, microseconds, zstd", inMicros(random(3000)), parquet.Options{Timestamps: parquet.Int64Micros, Codec: parquet.Zstd}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tab := tc.tab
			tab.cols = append([]stage.Column{{Name: "row_number", Type: decimal(9, 0)}}, tab.cols...)
			for i, row := range tab.rows {
				tab.rows[i] = append([]string{fmt.Sprint(i)}, row...)
			}
			h := hive{t, h.conn}
			target := external(t, h, tab, tc.opt)
			for _, settings := range [][]string{
				{"SET hive.fetch.task.conversion=more"},
				{"SET hive.fetch.task.conversion=none", "SET hive.vectorized.execution.enabled=false"},
				{"SET hive.fetch.task.conversion=none", "SET hive.vectorized.execution.enabled=true"},
			} {
				for _, s := range settings {
					h.rows(s)
				}
				compare(t, canonical(tab, h.rows("SELECT * FROM default."+target)), tab.rows)
			}
		})
	}
}

// canonical turns Hive's texts into ours: Hive drops the trailing zeros of decimals, and writes a fraction of zero.
func canonical(tab table, rows [][]string) [][]string {
	for _, row := range rows {
		for i, c := range tab.cols {
			if row[i] == null {
				continue
			}
			switch c.Type.Kind {
			case extract.Decimal:
				if n, err := extract.ParseDecimal(row[i], c.Type); err == nil {
					row[i] = extract.FormatDecimal(n, c.Type.Scale)
				}
			case extract.Timestamp:
				row[i] = extract.CanonicalTimestamp(row[i])
			case extract.Float32:
				row[i] = canonicalFloat(row[i], 32)
			case extract.Float64:
				row[i] = canonicalFloat(row[i], 64)
			}
		}
	}
	return rows
}

func canonicalFloat(s string, bits int) string {
	f, err := strconv.ParseFloat(s, bits)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// The names that stage.Columns lets through are those that Hive finds in the file.
func TestHiveFindsNames(t *testing.T) {
	stack := rig.Shared(t)
	h := connect(t, stack)
	source := &extract.Table{}
	for _, name := range []string{"금액", "A$B", "C#", "CONST", "_X", "1ST", "Ä", "x-y", "x/y", "x'y", `x"y`, `x\y`, "x%20y", "x@y", "x?y",
		"x<y>", "x[y]", "x+y", "x*y", "x|y", "x!y", "x~y", "x^y", "x&y", "select", "😀"} {
		source.Columns = append(source.Columns, extract.Column{Name: name, Type: text})
	}
	cols, err := stage.Columns(source)
	if err != nil {
		t.Fatal(err)
	}
	tab := table{cols: cols, rows: make([][]string, 1)}
	for _, c := range cols {
		tab.rows[0] = append(tab.rows[0], "value of "+c.Name)
	}
	target := external(t, h, tab, parquet.Options{})
	for _, vectorised := range []string{"true", "false"} {
		h.rows("SET hive.fetch.task.conversion=none")
		h.rows("SET hive.vectorized.execution.enabled=" + vectorised)
		compare(t, h.rows("SELECT * FROM default."+target), tab.rows)
		var quoted []string
		for _, c := range slices.Backward(cols) {
			quoted = append(quoted, "`"+c.Name+"`")
		}
		reversed := slices.Clone(tab.rows[0])
		slices.Reverse(reversed)
		compare(t, h.rows("SELECT "+strings.Join(quoted, ", ")+" FROM default."+target), [][]string{reversed})
	}
}
