package oracle

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
)

func putOne(typ extract.Type, unicode bool, x driver.Value) (string, error) {
	c := extract.Column{Name: "C", Type: typ}
	b := extract.NewBatch([]extract.Column{c}, 0, 0)
	if err := putFor(c, unicode)(&b.Cols[0], x); err != nil {
		return "", err
	}
	if b.Cols[0].Len() != 1 {
		return "", errors.New("not one value")
	}
	if b.Cols[0].IsNull(0) {
		return "NULL", nil
	}
	return string(b.Cols[0].AppendText(nil, 0)), nil
}

func TestPut(t *testing.T) {
	narrow := extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}
	wide := extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}
	stamp, text := extract.Type{Kind: extract.Timestamp, Scale: 9}, extract.Type{Kind: extract.Text}
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 23, 59, 59, 999999999, time.UTC) }
	for _, c := range []struct {
		t    extract.Type
		x    driver.Value
		want string
	}{
		{narrow, "-9999999999999999.99", "-9999999999999999.99"},
		{narrow, "0", "0.00"},
		{narrow, nil, "NULL"},
		{wide, "9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"},
		{wide, "-0.0000000001", "-0.0000000001"},
		{wide, nil, "NULL"},
		{stamp, day(9999, 12, 31), "9999-12-31 23:59:59.999999999"},
		{stamp, day(1, 1, 1), "0001-01-01 23:59:59.999999999"},
		{stamp, day(1600, 3, 1), "1600-03-01 23:59:59.999999999"},
		{stamp, day(1700, 3, 1), "1700-03-01 23:59:59.999999999"},
		{stamp, nil, "NULL"},
		{text, "한글 \u0000 ok", "한글 \u0000 ok"},
		{text, "", "NULL"},
		{text, "  ", "  "},
		{text, "\uFFFD", "\uFFFD"},
	} {
		if got, err := putOne(c.t, true, c.x); err != nil || got != c.want {
			t.Errorf("%s of %v = %q, %v; want %q", c.t, c.x, got, err, c.want)
		}
	}
}

func TestPutRefuses(t *testing.T) {
	narrow := extract.Type{Kind: extract.Decimal, Precision: 5, Scale: 2}
	stamp, text := extract.Type{Kind: extract.Timestamp}, extract.Type{Kind: extract.Text}
	for _, c := range []struct {
		name    string
		t       extract.Type
		unicode bool
		x       driver.Value
	}{
		{"digits beyond the scale", narrow, true, "1.005"},
		{"digits beyond the precision", narrow, true, "1000"},
		{"infinity", narrow, true, "-Infinity"},
		{"a time for a number", narrow, true, time.Now()},
		{"BC", stamp, true, time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC)},
		{"year 10000", stamp, true, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"29 February 1500, as the driver has it", stamp, true, time.Date(1500, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"a text for a time", stamp, true, "2026-09-28"},
		{"bytes that are not UTF-8", text, true, "a\xffb"},
		{"CESU-8", text, true, "\xed\xa0\xbd\xed\xb8\x80"},
		{"a replaced character", text, false, "a\uFFFDb"},
		{"bytes for a text", text, true, []byte("x")},
	} {
		if got, err := putOne(c.t, c.unicode, c.x); !errors.Is(err, extract.ErrValue) {
			t.Errorf("%s: %q, %v; want ErrValue", c.name, got, err)
		}
	}
}

func TestTail(t *testing.T) {
	var tl tail
	for range 1000 {
		tl.add([]byte("0123456789"))
	}
	tl.add([]byte("ORA-0"))
	tl.add([]byte("1403: no data found\n"))
	if !tl.contains(endOfRows) || tl.n != tailSize {
		t.Fatalf("a text in two pieces is not found at the end of %d bytes", tl.n)
	}
	tl.add([]byte(strings.Repeat("x", 10_000)))
	if tl.contains(endOfRows) || tl.n != tailSize {
		t.Fatalf("a text before the last %d bytes is still found", tailSize)
	}
	tl.reset()
	if tl.contains("x") {
		t.Fatal("something is left after reset")
	}
}
