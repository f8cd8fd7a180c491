package hive

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
)

// term is one measure as Hive computes it: one or more expressions, and what to make of their values.
type term struct {
	measure extract.Measure
	sql     []string
	read    func(vs []hs2.Value) (string, error) // never called with a NULL
}

// terms writes the measures for a table with these columns.
func terms(cols []stage.Column, ms []extract.Measure) ([]term, error) {
	names := make(map[string]string, len(cols))
	for _, c := range cols {
		names[c.Source] = c.Name
	}
	out := make([]term, 0, len(ms))
	var faults []error
	for _, m := range ms {
		name, ok := names[m.Column]
		if !ok && m.What != extract.Rows {
			faults = append(faults, fmt.Errorf("measure %s of %q: no such column", m.What, m.Column))
			continue
		}
		t, err := newTerm(m, ident(name))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, t)
	}
	return out, errors.Join(faults...)
}

func newTerm(m extract.Measure, col string) (term, error) {
	if m.What != extract.Rows && m.What != extract.Checksum && !extract.Measurable(m.Type, m.What) {
		return term{}, fmt.Errorf("measure %s of %q: not defined for %s", m.What, m.Column, m.Type)
	}
	t := term{measure: m}
	switch m.What {
	case extract.Rows:
		t.sql, t.read = []string{"count(*)"}, readInteger
	case extract.NonNull:
		t.sql, t.read = []string{"count(" + col + ")"}, readInteger
	case extract.Sum:
		t.sql, t.read = sum(m.Type, col)
	case extract.Min, extract.Max:
		t.sql, t.read = extreme(m, col)
	case extract.Checksum:
		t.sql, t.read = []string{"sum(cast(crc32(" + checksumInput(m.Type, col) + ") AS bigint))"}, readInteger
	}
	return t, nil
}

// checksumInput is the text of a value whose CRC-32 goes into the checksum. What it looks like does not matter,
// only that it is the same for equal values; the sum may wrap around, and wraps alike on both sides.
func checksumInput(t extract.Type, col string) string {
	if t.Kind == extract.Text || t.Kind == extract.Binary {
		return col
	}
	return "cast(" + col + " AS string)"
}

// widestWhole is the greatest precision that is summed in one piece: 38 digits leave room for 10^12 values.
// Beyond it Hive answers an overflow with NULL.
const widestWhole = 26

// partDigits is where wider decimals are cut in two: both parts have at most 19 digits.
const partDigits = 19

// sum adds up a decimal exactly. A wide one is split into v = high * unit + low with unit = 10^(19-scale).
// Each step is exact in Hive's arithmetic, although it may take digits from the scale of a result: v - low is
// a multiple of the unit, so that what falls away is zero, and the quotient is whole.
func sum(t extract.Type, col string) (sql []string, read func([]hs2.Value) (string, error)) {
	if t.Precision <= widestWhole {
		one := fmt.Sprintf("sum(cast(%s AS decimal(38,%d)))", col, t.Scale)
		return []string{one}, func(vs []hs2.Value) (string, error) { return readDecimal(vs[0].Text, t.Scale) }
	}
	u := unit(t.Scale)
	low := col + " % " + u
	return []string{
			fmt.Sprintf("sum(cast((%s - %s) / %s AS decimal(38,0)))", col, low, u),
			fmt.Sprintf("sum(%s)", low),
		}, func(vs []hs2.Value) (string, error) {
			return readParts(vs[0].Text, vs[1].Text, t.Scale)
		}
}

// unit is 10^(19-scale) as a decimal literal.
func unit(scale int) string {
	if scale <= partDigits {
		return "1" + strings.Repeat("0", partDigits-scale) + "BD"
	}
	return "0." + strings.Repeat("0", scale-partDigits-1) + "1BD"
}

func extreme(m extract.Measure, col string) (sql []string, read func([]hs2.Value) (string, error)) {
	call := string(m.What) + "(" + col + ")"
	if m.Type.Kind == extract.Timestamp {
		return []string{"cast(" + call + " AS string)"}, readTimestamp
	}
	return []string{call}, func(vs []hs2.Value) (string, error) { return readDecimal(vs[0].Text, m.Type.Scale) }
}

// metrics reads the one row that selectMeasures gives.
func metrics(row []hs2.Value, ts []term) ([]extract.Metric, error) {
	out := make([]extract.Metric, 0, len(ts))
	for _, t := range ts {
		if len(row) < len(t.sql) {
			return nil, fmt.Errorf("read measures: the row has too few values")
		}
		vs := row[:len(t.sql)]
		row = row[len(t.sql):]
		m := extract.Metric{Column: t.measure.Column, What: t.measure.What}
		for _, v := range vs {
			m.Null = m.Null || v.Null
		}
		if !m.Null {
			var err error
			if m.Value, err = t.read(vs); err != nil {
				return nil, fmt.Errorf("read %s of %q: %w", m.What, m.Column, err)
			}
		}
		out = append(out, m)
	}
	if len(row) > 0 {
		return nil, fmt.Errorf("read measures: the row has %d values too many", len(row))
	}
	return out, nil
}

// readCount reads what countRows gives.
func readCount(rows [][]hs2.Value) (int64, error) {
	if len(rows) != 1 || len(rows[0]) != 1 {
		return 0, fmt.Errorf("read count: %d rows came back, want 1 of one value", len(rows))
	}
	return strconv.ParseInt(rows[0][0].Text, 10, 64)
}

func readInteger(vs []hs2.Value) (string, error) {
	n, err := strconv.ParseInt(vs[0].Text, 10, 64)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

func readTimestamp(vs []hs2.Value) (string, error) {
	day, nano, err := extract.ParseTimestamp(extract.CanonicalTimestamp(vs[0].Text))
	if err != nil {
		return "", err
	}
	return extract.FormatTimestamp(day, nano), nil
}

func readDecimal(text string, scale int) (string, error) {
	n, err := unscaled(text, scale)
	if err != nil {
		return "", err
	}
	return scaled(n, scale), nil
}

// readParts puts a sum together: high counts units of 10^(19-scale), which are 10^19 of the last digit.
func readParts(high, low string, scale int) (string, error) {
	h, err := unscaled(high, 0)
	if err != nil {
		return "", err
	}
	l, err := unscaled(low, scale)
	if err != nil {
		return "", err
	}
	h.Mul(h, new(big.Int).Exp(big.NewInt(10), big.NewInt(partDigits), nil))
	return scaled(h.Add(h, l), scale), nil
}

// unscaled reads plain decimal text as an integer of the last digit. A sum may have more than 38 digits.
func unscaled(text string, scale int) (*big.Int, error) {
	whole, frac, _ := strings.Cut(text, ".")
	kept := strings.TrimRight(frac, "0")
	if len(kept) > scale {
		return nil, fmt.Errorf("decimal %q has more than %d digits after the point", text, scale)
	}
	n, ok := new(big.Int).SetString(whole+kept+strings.Repeat("0", scale-len(kept)), 10)
	if !ok || whole == "" || strings.ContainsAny(text, "_ ") {
		return nil, fmt.Errorf("decimal %q cannot be read", text)
	}
	return n, nil
}

// scaled writes n with exactly scale digits after the point.
func scaled(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	text := digits[:len(digits)-scale]
	if scale > 0 {
		text += "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// scopeColumns are the columns of whatever a scope names.
func scopeColumns(in publish.Scope) ([]stage.Column, error) {
	switch {
	case in.Staging != nil && in.Target == nil:
		return in.Staging.Columns, nil
	case in.Target != nil && in.Staging == nil:
		return in.Target.Columns, nil
	}
	return nil, fmt.Errorf("measure: a scope names either a staging table or a target")
}
