package parquet

import (
	"errors"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

func TestJulianDay(t *testing.T) {
	for _, tc := range []struct {
		date            string
		hive, proleptic uint32
	}{
		{"0001-01-01 00:00:00", 1721424, 1721426},
		{"1500-02-28 00:00:00", 2268991, 2268982},
		{"1582-10-04 00:00:00", 2299160, 2299150},
		{"1582-10-15 00:00:00", 2299161, 2299161},
		{"1970-01-01 00:00:00", 2440588, 2440588},
		{"9999-12-31 00:00:00", 5373484, 5373484},
	} {
		day, _, err := extract.ParseTimestamp(tc.date)
		if err != nil {
			t.Fatal(err)
		}
		hive, err1 := HiveCalendar.julianDay(day)
		proleptic, err2 := ProlepticCalendar.julianDay(day)
		if err1 != nil || err2 != nil || hive != tc.hive || proleptic != tc.proleptic {
			t.Errorf("%s is day %d for Hive and %d for others, want %d and %d; %v %v", tc.date, hive, proleptic, tc.hive, tc.proleptic, err1, err2)
		}
	}
}

// Every day there is comes back; those that Hive's calendar leaves out are refused, and no two days are one.
func TestJulianDayRoundTrip(t *testing.T) {
	refused, last := 0, uint32(0)
	for day := int32(extract.MinDay); day < firstGregorian+400; day++ {
		for _, c := range []Calendar{HiveCalendar, ProlepticCalendar} {
			julian, err := c.julianDay(day)
			if err != nil {
				if !errors.Is(err, extract.ErrValue) {
					t.Fatal(err)
				}
				refused++
				continue
			}
			if back, ok := c.day(julian); !ok || back != day {
				t.Fatalf("%v: day %d became %d and then %d, %v", c, day, julian, back, ok)
			}
			if c == HiveCalendar && julian <= last {
				t.Fatalf("%v: day %d became %d, the day before it %d", c, day, julian, last)
			} else if c == HiveCalendar {
				last = julian
			}
		}
	}
	if refused != 10 {
		t.Errorf("%d days are refused, want 10", refused)
	}
	// 1500 was a leap year of the Julian calendar only.
	if day, ok := HiveCalendar.day(uint32(julianDayNumber(1500, 2, 29))); ok {
		t.Errorf("the Julian 1500-02-29 became day %d", day)
	}
}
