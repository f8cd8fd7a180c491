package oracle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/extract"
)

// declared is a column as the dictionary has it. A number that the dictionary leaves NULL is nil.
type declared struct {
	name      string
	dataType  string // ALL_TAB_COLS.DATA_TYPE
	length    int    // bytes
	precision *int
	scale     *int
	chars     int  // CHAR_LENGTH
	charUsed  bool // CHAR_USED = 'C'
	nullable  bool
}

// rule maps one Oracle type to the type that its values travel as.
type rule struct {
	oracle string // DATA_TYPE, where n stands for one digit
	travel func(d declared) (extract.Type, error)
	doc    string
}

// rules is the one table of supported types. What matches none is refused by name.
func rules() []rule {
	return []rule{
		{"NUMBER", number, "decimal(p,s); without precision and scale decimal(38,10); a value that does not fit exactly is an error"},
		{"VARCHAR2", varchar, "text; '' is NULL, as in Oracle"},
		{"CHAR", char, "text, blank-padded to its length as the source stores it"},
		{"DATE", date, "timestamp(0), wall clock without zone"},
		{"TIMESTAMP(n)", timestamp, "timestamp(n), wall clock without zone"},
	}
}

// travel says what a column becomes, or that it is not supported.
func (d declared) travel() (extract.Type, error) {
	for _, r := range rules() {
		if r.oracle == withoutDigits(d.dataType) {
			return r.travel(d)
		}
	}
	return extract.Type{}, d.unsupported("is not supported yet")
}

// withoutDigits writes n for the precision of a TIMESTAMP, which is part of its name in the dictionary.
func withoutDigits(dataType string) string {
	if digits, ok := strings.CutPrefix(dataType, "TIMESTAMP("); ok && len(digits) > 1 && digits[0] >= '0' && digits[0] <= '9' {
		return "TIMESTAMP(n" + digits[1:]
	}
	return dataType
}

func (d declared) unsupported(why string) error {
	return fmt.Errorf("column %q: %w: %s %s; leave it out of the job's columns", d.name, extract.ErrUnsupported, d.text(), why)
}

// bareScale is the scale of a NUMBER that is declared without one. It is a choice, not a fact: a value with more
// digits after the point is an error, and types: overrides it.
const bareScale = 10

func number(d declared) (extract.Type, error) {
	precision, scale := extract.MaxPrecision, bareScale
	if d.precision != nil {
		precision = *d.precision
	}
	if d.scale != nil {
		scale = *d.scale
	}
	if scale < 0 { // NUMBER(5,-2) holds seven digits before the point
		precision, scale = min(precision-scale, extract.MaxPrecision), 0
		if d.precision != nil && *d.precision-*d.scale > extract.MaxPrecision {
			return extract.Type{}, d.unsupported(fmt.Sprintf("holds numbers of more than %d digits", extract.MaxPrecision))
		}
	}
	precision = max(precision, scale) // NUMBER(2,5) holds 0.00099
	if precision > extract.MaxPrecision {
		return extract.Type{}, d.unsupported(fmt.Sprintf("holds numbers of more than %d digits", extract.MaxPrecision))
	}
	return extract.Type{Kind: extract.Decimal, Precision: precision, Scale: scale}, nil
}

func varchar(d declared) (extract.Type, error) {
	return extract.Type{Kind: extract.Text, Length: d.chars}, nil
}

func char(d declared) (extract.Type, error) {
	return extract.Type{Kind: extract.Text, Length: d.chars, Fixed: true}, nil
}

func date(declared) (extract.Type, error) { return extract.Type{Kind: extract.Timestamp}, nil }

func timestamp(d declared) (extract.Type, error) {
	return extract.Type{Kind: extract.Timestamp, Scale: int(d.dataType[len("TIMESTAMP(")] - '0')}, nil
}

// text is the declaration in Oracle's own words.
func (d declared) text() string {
	switch d.dataType {
	case "NUMBER":
		return numberText(d)
	case "VARCHAR2", "CHAR":
		if d.charUsed {
			return fmt.Sprintf("%s(%d CHAR)", d.dataType, d.chars)
		}
		return fmt.Sprintf("%s(%d BYTE)", d.dataType, d.length)
	case "NVARCHAR2", "NCHAR":
		return fmt.Sprintf("%s(%d)", d.dataType, d.chars)
	case "RAW", "UROWID":
		return fmt.Sprintf("%s(%d)", d.dataType, d.length)
	case "FLOAT":
		if d.precision != nil {
			return fmt.Sprintf("FLOAT(%d)", *d.precision)
		}
	}
	return d.dataType
}

func numberText(d declared) string {
	switch {
	case d.precision == nil && d.scale == nil:
		return "NUMBER"
	case d.precision == nil:
		return fmt.Sprintf("NUMBER(*,%d)", *d.scale)
	case d.scale == nil || *d.scale == 0:
		return fmt.Sprintf("NUMBER(%d)", *d.precision)
	default:
		return fmt.Sprintf("NUMBER(%d,%d)", *d.precision, *d.scale)
	}
}

var decimalOverride = regexp.MustCompile(`^decimal\((\d{1,2}),(\d{1,2})\)$`)

// override applies types: to a column: decimal(p,s) or string, for a NUMBER.
func (d declared) override(to string) (extract.Type, error) {
	if d.dataType != "NUMBER" {
		return extract.Type{}, fmt.Errorf("column %q: %w: types: gives %s another type; only a NUMBER may have one", d.name, extract.ErrUnsupported, d.text())
	}
	to = strings.ReplaceAll(strings.ToLower(to), " ", "")
	if to == "string" {
		return extract.Type{Kind: extract.Text, Length: maxNumberText}, nil
	}
	m := decimalOverride.FindStringSubmatch(to)
	if m == nil {
		return extract.Type{}, fmt.Errorf("column %q: %w: types: says %q; write decimal(p,s) or string", d.name, extract.ErrUnsupported, to)
	}
	precision, err := strconv.Atoi(m[1])
	if err != nil {
		return extract.Type{}, err
	}
	scale, err := strconv.Atoi(m[2])
	if err != nil {
		return extract.Type{}, err
	}
	if precision < 1 || precision > extract.MaxPrecision || scale > precision {
		return extract.Type{}, fmt.Errorf("column %q: %w: decimal(%d,%d); precision is 1..%d and scale at most the precision",
			d.name, extract.ErrUnsupported, precision, scale, extract.MaxPrecision)
	}
	return extract.Type{Kind: extract.Decimal, Precision: precision, Scale: scale}, nil
}

// maxNumberText is the longest text of a NUMBER: sign, 130 zeros or digits, point.
const maxNumberText = 172

// width is the greatest number of bytes that a value takes on the wire, by its declaration.
func width(c extract.Column) int {
	switch c.Type.Kind {
	case extract.Decimal:
		return 22
	case extract.Timestamp:
		return 11
	}
	if strings.HasSuffix(c.Declared, " BYTE)") {
		return c.Type.Length
	}
	return min(4*c.Type.Length, 32767)
}

// Limits of the driver: 25 means "compute it from the widest possible row", and more than a u2 is sent damaged.
const (
	driversOwn  = 25
	maxPrefetch = 8192
)

// prefetchFor is how many rows of these columns make one reply of about budget bytes.
func prefetchFor(cols []extract.Column, budget int) int {
	row := 1
	for _, c := range cols {
		row += width(c) + 1
	}
	n := min(max(budget/row, 1), maxPrefetch)
	if n == driversOwn {
		n++
	}
	return n
}
