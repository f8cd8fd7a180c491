package ttc

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
)

func TestEveryDay(t *testing.T) {
	c := decodedColumn{form: formDate}
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.AddDate(0, 0, 1) {
		want, _, err := extract.SplitTime(at)
		if err != nil {
			t.Fatal(err)
		}
		day, nano, why := c.instant(encodeInstant(at, false))
		if why != fine || day != want || nano != 0 {
			t.Fatalf("%s is day %d and %d ns, fault %d; want %d", at, day, nano, why, want)
		}
	}
}

func TestInstantFields(t *testing.T) {
	good := []byte{120, 126, 9, 28, 24, 60, 60}
	at := func(i int, b byte) []byte {
		out := append([]byte(nil), good...)
		out[i] = b
		return out
	}
	nanos := func(n uint32) []byte { return binary.BigEndian.AppendUint32(append([]byte(nil), good...), n) }
	for _, c := range []struct {
		name string
		x    []byte
		form form
		why  fault
	}{
		{"good", good, formDate, fine},
		{"good, with a fraction", nanos(999_999_999), formTimestamp, fine},
		{"a second of nanoseconds", nanos(1_000_000_000), formTimestamp, badInstant},
		{"a DATE with a fraction", nanos(1), formDate, badLength},
		{"six bytes", good[:6], formDate, badLength},
		{"thirteen bytes", append(nanos(1), 20, 60), formTimestamp, badLength},
		{"4712 BC", []byte{53, 88, 1, 1, 1, 1, 1}, formDate, beforeChrist},
		{"year 0", []byte{100, 100, 1, 1, 1, 1, 1}, formDate, beforeChrist},
		{"year 10000", []byte{200, 100, 1, 1, 1, 1, 1}, formDate, beforeChrist},
		{"year 100 of a century", at(1, 200), formDate, badInstant},
		{"month 0", at(2, 0), formDate, badInstant},
		{"month 13", at(2, 13), formDate, badInstant},
		{"day 0", at(3, 0), formDate, badInstant},
		{"31 September", at(3, 31), formDate, badInstant},
		{"30 February", []byte{120, 124, 2, 30, 1, 1, 1}, formDate, badInstant},
		{"29 February 2024", []byte{120, 124, 2, 29, 1, 1, 1}, formDate, fine},
		{"29 February 2026", []byte{120, 126, 2, 29, 1, 1, 1}, formDate, badInstant},
		{"29 February 1500", []byte{115, 100, 2, 29, 1, 1, 1}, formDate, julianLeapDay},
		{"29 February 1900", []byte{119, 100, 2, 29, 1, 1, 1}, formDate, badInstant},
		{"1 March 1500", []byte{115, 100, 3, 1, 1, 1, 1}, formDate, fine},
		{"hour -1", at(4, 0), formDate, badInstant},
		{"hour 24", at(4, 25), formDate, badInstant},
		{"minute 60", at(5, 61), formDate, badInstant},
		{"second 60", at(6, 61), formDate, badInstant},
		{"nothing but ones", []byte{255, 255, 255, 255, 255, 255, 255}, formDate, beforeChrist},
		{"zeros", make([]byte, 7), formDate, beforeChrist},
	} {
		col := decodedColumn{form: c.form}
		for range 2 { // the second time from what was kept of the first
			if _, _, why := col.instant(c.x); why != c.why {
				t.Errorf("%s: fault %d, want %d", c.name, why, c.why)
			}
		}
	}
}
