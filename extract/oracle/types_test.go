package oracle

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

func num(n int) *int { return &n }

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		d        declared
		declared string
		want     string
	}{
		{declared{dataType: "NUMBER", precision: num(18), scale: num(2)}, "NUMBER(18,2)", "decimal(18,2)"},
		{declared{dataType: "NUMBER", precision: num(10), scale: num(0)}, "NUMBER(10)", "decimal(10,0)"},
		{declared{dataType: "NUMBER", precision: num(38), scale: num(38)}, "NUMBER(38,38)", "decimal(38,38)"},
		{declared{dataType: "NUMBER"}, "NUMBER", "decimal(38,10)"},
		{declared{dataType: "NUMBER", scale: num(0)}, "NUMBER(*,0)", "decimal(38,0)"},
		{declared{dataType: "NUMBER", scale: num(4)}, "NUMBER(*,4)", "decimal(38,4)"},
		{declared{dataType: "NUMBER", scale: num(-3)}, "NUMBER(*,-3)", "decimal(38,0)"},
		{declared{dataType: "NUMBER", precision: num(5), scale: num(-2)}, "NUMBER(5,-2)", "decimal(7,0)"},
		{declared{dataType: "NUMBER", precision: num(2), scale: num(5)}, "NUMBER(2,5)", "decimal(5,5)"},
		{declared{dataType: "VARCHAR2", length: 400, chars: 400}, "VARCHAR2(400 BYTE)", "text"},
		{declared{dataType: "VARCHAR2", length: 40, chars: 10, charUsed: true}, "VARCHAR2(10 CHAR)", "text"},
		{declared{dataType: "CHAR", length: 3, chars: 3}, "CHAR(3 BYTE)", "text"},
		{declared{dataType: "DATE", length: 7}, "DATE", "timestamp(0)"},
		{declared{dataType: "TIMESTAMP(6)", length: 11, scale: num(6)}, "TIMESTAMP(6)", "timestamp(6)"},
		{declared{dataType: "TIMESTAMP(0)", length: 7, scale: num(0)}, "TIMESTAMP(0)", "timestamp(0)"},
		{declared{dataType: "TIMESTAMP(9)", length: 11, scale: num(9)}, "TIMESTAMP(9)", "timestamp(9)"},
	} {
		got, err := c.d.travel()
		if err != nil || got.String() != c.want || c.d.text() != c.declared {
			t.Errorf("%s travels as %s, %v; want %s as %s", c.d.text(), got, err, c.declared, c.want)
		}
	}
	fixed, err := declared{dataType: "CHAR", chars: 3}.travel()
	if err != nil || !fixed.Fixed || fixed.Length != 3 {
		t.Errorf("CHAR(3) = %+v, %v; want fixed length 3", fixed, err)
	}
}

func TestTypesRefusedByName(t *testing.T) {
	for _, dataType := range []string{
		"NVARCHAR2", "NCHAR", "LONG", "LONG RAW", "CLOB", "NCLOB", "BLOB", "BFILE", "RAW", "FLOAT", "BINARY_FLOAT",
		"BINARY_DOUBLE", "TIMESTAMP(6) WITH TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "INTERVAL YEAR(2) TO MONTH",
		"INTERVAL DAY(2) TO SECOND(6)", "ROWID", "UROWID", "XMLTYPE", "JSON", "BOOLEAN", "SDO_GEOMETRY", "VECTOR", "",
	} {
		_, err := declared{name: "PAYLOAD", dataType: dataType}.travel()
		if !errors.Is(err, extract.ErrUnsupported) || !strings.Contains(err.Error(), `"PAYLOAD"`) || !strings.Contains(err.Error(), dataType) {
			t.Errorf("%s: %v, want ErrUnsupported that names column and type", dataType, err)
		}
	}
	for _, d := range []declared{
		{name: "N", dataType: "NUMBER", precision: num(38), scale: num(-84)},
		{name: "N", dataType: "NUMBER", precision: num(2), scale: num(127)},
	} {
		if got, err := d.travel(); !errors.Is(err, extract.ErrUnsupported) {
			t.Errorf("%s travels as %s, %v; want ErrUnsupported", d.text(), got, err)
		}
	}
}

func TestOverride(t *testing.T) {
	d := declared{name: "N", dataType: "NUMBER"}
	for in, want := range map[string]string{"decimal(38,4)": "decimal(38,4)", "DECIMAL(5, 0)": "decimal(5,0)", "string": "text"} {
		if got, err := d.override(in); err != nil || got.String() != want {
			t.Errorf("override %q = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"decimal(39,0)", "decimal(0,0)", "decimal(5,6)", "decimal(5)", "float", "", "timestamp"} {
		if got, err := d.override(in); !errors.Is(err, extract.ErrUnsupported) {
			t.Errorf("override %q = %s, %v; want ErrUnsupported", in, got, err)
		}
	}
	if got, err := (declared{name: "D", dataType: "DATE"}).override("string"); !errors.Is(err, extract.ErrUnsupported) {
		t.Errorf("override of a DATE = %s, %v; want ErrUnsupported", got, err)
	}
}

func TestPrefetchFor(t *testing.T) {
	wide := extract.Column{Declared: "VARCHAR2(4000 CHAR)", Type: extract.Type{Kind: extract.Text, Length: 4000}}
	bytes := extract.Column{Declared: "VARCHAR2(9 BYTE)", Type: extract.Type{Kind: extract.Text, Length: 9}}
	ten := make([]extract.Column, 10)
	for i := range ten {
		ten[i] = wide
	}
	for _, c := range []struct {
		cols   []extract.Column
		budget int
		want   int
	}{
		{ten, 4 << 20, 26},
		{ten, 1 << 10, 1},
		{[]extract.Column{bytes}, 1 << 30, maxPrefetch},
		{[]extract.Column{bytes}, 25 * 11, 26}, // 25 would switch the driver to its own choice
	} {
		if got := prefetchFor(c.cols, c.budget); got != c.want {
			t.Errorf("%d columns in %d bytes: %d rows, want %d", len(c.cols), c.budget, got, c.want)
		}
	}
}
