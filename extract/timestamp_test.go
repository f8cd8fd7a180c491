package extract

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimestampText(t *testing.T) {
	for _, c := range []struct {
		day  int32
		nano int64
		want string
	}{
		{0, 0, "1970-01-01 00:00:00"},
		{-1, nanosPerDay - 1, "1969-12-31 23:59:59.999999999"},
		{0, 500_000_000, "1970-01-01 00:00:00.5"},
		{MinDay, 0, "0001-01-01 00:00:00"},
		{MaxDay, nanosPerDay - 1000, "9999-12-31 23:59:59.999999"},
		{-141427, 0, "1582-10-15 00:00:00"},
	} {
		if got := FormatTimestamp(c.day, c.nano); got != c.want {
			t.Errorf("FormatTimestamp(%d, %d) = %s, want %s", c.day, c.nano, got, c.want)
		}
		day, nano, err := ParseTimestamp(c.want)
		if err != nil || day != c.day || nano != c.nano {
			t.Errorf("ParseTimestamp(%s) = %d, %d, %v", c.want, day, nano, err)
		}
	}
}

func TestParseTimestampRefuses(t *testing.T) {
	for _, s := range []string{
		"", "2026-09-28", "2026-02-30 00:00:00", "2026-09-28 00:00:00.50", "2026-09-28 00:00:00,5",
		"2026-09-28T00:00:00", "2026-9-28 00:00:00", "0000-01-01 00:00:00", "-0044-03-15 00:00:00",
		"10000-01-01 00:00:00", "2026-09-28 24:00:00", "2026-09-28 00:00:00.0000000001",
	} {
		if _, _, err := ParseTimestamp(s); !errors.Is(err, ErrValue) {
			t.Errorf("ParseTimestamp(%q): %v, want ErrValue", s, err)
		}
	}
}

func TestSplitTimeTakesTheWallClock(t *testing.T) {
	seoul := time.FixedZone("KST", 9*3600)
	day, nano, err := SplitTime(time.Date(2026, 9, 28, 0, 0, 1, 0, seoul))
	if got := FormatTimestamp(day, nano); err != nil || got != "2026-09-28 00:00:01" {
		t.Fatalf("SplitTime = %s, %v; want the wall clock of the zone", got, err)
	}
	for _, year := range []int{-44, 0, 10000} {
		if _, _, err := SplitTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, ErrValue) {
			t.Errorf("year %d: %v, want ErrValue", year, err)
		}
	}
}

func TestTimestampTextSortsAsTime(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) instant {
		return instant{rapid.Int32Range(MinDay, MaxDay).Draw(t, "day"), rapid.Int64Range(0, nanosPerDay-1).Draw(t, "nano")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		at, bt := FormatTimestamp(a.day, a.nano), FormatTimestamp(b.day, b.nano)
		if a.before(b) != (at < bt) {
			t.Fatalf("%v before %v is %t, but %q < %q is %t", a, b, a.before(b), at, bt, at < bt)
		}
		day, nano, err := ParseTimestamp(at)
		if err != nil || (instant{day, nano}) != a {
			t.Fatalf("ParseTimestamp(%s) = %d, %d, %v", at, day, nano, err)
		}
	})
}

func TestCanonicalTimestamp(t *testing.T) {
	for in, want := range map[string]string{
		"2026-09-28 10:00:00":           "2026-09-28 10:00:00",
		"2026-09-28 10:00:00.000000000": "2026-09-28 10:00:00",
		"2026-09-28 10:00:00.120000000": "2026-09-28 10:00:00.12",
	} {
		if got := CanonicalTimestamp(in); got != want {
			t.Errorf("CanonicalTimestamp(%s) = %s, want %s", in, got, want)
		}
	}
}
