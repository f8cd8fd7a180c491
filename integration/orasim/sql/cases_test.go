package sql

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// peerCase is one line of testdata/peercases.jsonl: statements that set a table up and, where they are known,
// the rows of the last one that was created, ordered by their first column, as text of the types.
type peerCase struct {
	ID     string
	SQL    []string
	Types  []string
	Expect [][]*string
}

// notHere are the cases whose statements need what the engine does not have; docs/orasim.md says so too.
var notHere = map[string]string{
	"PSQ-004": "values of object types", "PDB-033": "ROW ARCHIVAL",
}

func TestPeerCases(t *testing.T) {
	f, err := os.Open("testdata/peercases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c peerCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { c.run(t) })
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func (c *peerCase) run(t *testing.T) {
	_, s := open(t, Config{})
	if why, ok := notHere[c.ID]; ok {
		for _, text := range c.SQL {
			if _, err := s.Run(context.Background(), text); err != nil {
				return
			}
		}
		t.Fatalf("it runs now: %s is no longer missing", why)
	}
	run(t, s, c.SQL...)
	if c.Expect == nil {
		return
	}
	columns, rows := c.rows(t, s)
	if len(rows) != len(c.Expect) {
		t.Fatalf("got %d rows, want %d", len(rows), len(c.Expect))
	}
	for i, row := range rows {
		for k, v := range row {
			want := "NULL"
			if w := c.Expect[i][k]; w != nil {
				want = *w
			}
			if got := targetText(t, c.Types[k], want, columns[k].Type, v); got != want {
				t.Errorf("row %d, column %d (%s): got %q, want %q", i+1, k+1, c.Types[k], got, want)
			}
		}
	}
}

var createdTable = regexp.MustCompile(`(?i)^CREATE TABLE ("[^"]+"|[\w$#]+)`)

// rows reads the case's table, in the order of its insertion.
func (c *peerCase) rows(t *testing.T, s *Session) ([]ora.Column, [][]ora.Value) {
	t.Helper()
	table := ""
	for _, text := range c.SQL {
		if m := createdTable.FindStringSubmatch(text); m != nil {
			table = m[1]
		}
	}
	st, err := s.Prepare("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	cur, _, err := st.Execute(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]ora.Value
	for {
		row, err := cur.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return st.Columns(), list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, slices.Clone(row))
	}
}

// targetText is a value as the type of the case writes it.
func targetText(t *testing.T, target, want string, typ ora.Type, v ora.Value) string {
	t.Helper()
	if len(v) == 0 {
		return "NULL"
	}
	name, _, _ := strings.Cut(target, "(")
	switch name {
	case "DECIMAL":
		scale, err := strconv.Atoi(strings.Trim(target[strings.Index(target, ",")+1:], ") "))
		if err != nil {
			t.Fatal(err)
		}
		return withScale(ora.Text(typ, v), scale)
	case "FLOAT":
		f, err := ora.DecodeFloat(v)
		return sameFloat(t, float64(f), 32, want, err)
	case "DOUBLE":
		f, err := ora.DecodeDouble(v)
		return sameFloat(t, f, 64, want, err)
	case "BINARY":
		return hex.EncodeToString(v)
	case "TIMESTAMP", "INSTANT":
		at, err := ora.DecodeTime(v)
		if err != nil {
			t.Fatal(err)
		}
		if name == "INSTANT" {
			return isoNanos(at) + "Z"
		}
		return isoNanos(at)
	case "TSTZ":
		at, offset, err := ora.DecodeTZ(v)
		if err != nil {
			t.Fatal(err)
		}
		text := isoNanos(at) + ora.OffsetText(offset)
		if r := ora.RegionOf(v); r != nil {
			text += "[" + r.Name + "]"
		}
		return text
	case "INTERVAL":
		return targetInterval(t, typ, v)
	}
	return ora.Text(typ, v)
}

func withScale(s string, scale int) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if scale == 0 {
		return s
	}
	return whole + "." + fraction + strings.Repeat("0", max(0, scale-len(fraction)))
}

// sameFloat is the wanted text when it stands for the same float: there is more than one way to write it.
func sameFloat(t *testing.T, f float64, bits int, want string, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if w, err := strconv.ParseFloat(want, bits); err == nil && (w == f || math.IsNaN(w) && math.IsNaN(f)) {
		return want
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

func isoNanos(t ora.Time) string {
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%09d", t.Year, t.Month, t.Day, t.Hour, t.Minute, t.Sec, t.Nano)
}

func targetInterval(t *testing.T, typ ora.Type, v ora.Value) string {
	t.Helper()
	if typ.Code == ora.IntervalYM {
		m, err := ora.DecodeMonths(v)
		if err != nil {
			t.Fatal(err)
		}
		sign := "+"
		if m < 0 {
			sign, m = "-", -m
		}
		return fmt.Sprintf("%s%0*d-%02d", sign, int(typ.Precision), m/12, m%12)
	}
	s, err := ora.DecodeSpan(v)
	if err != nil {
		t.Fatal(err)
	}
	sign := "+"
	if s.Seconds < 0 || s.Nanos < 0 {
		sign, s.Seconds, s.Nanos = "-", -s.Seconds, -s.Nanos
	}
	fraction := fmt.Sprintf("%09d", s.Nanos)[:typ.Scale]
	if fraction != "" {
		fraction = "." + fraction
	}
	return fmt.Sprintf("%s%0*d %02d:%02d:%02d%s", sign, int(typ.Precision), s.Seconds/86400, s.Seconds/3600%24, s.Seconds/60%60, s.Seconds%60, fraction)
}
