package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written with a binary unit, as in 128MiB.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	const advice = "write a whole number with B, KiB, MiB, GiB or TiB, as in 128MiB"
	t := string(text)
	digits := strings.TrimRight(t, "BKMGTibkmgt ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return refuse("%q is not a size", t).hint(advice)
	}
	unit := strings.TrimSpace(t[len(digits):])
	for _, u := range sizeUnits {
		if u.name != unit {
			continue
		}
		if n > (1<<62)/u.bytes {
			return refuse("%q is too large", t)
		}
		*s = Size(n * u.bytes)
		return nil
	}
	if unit == "" {
		return refuse("%q has no unit", t).hint(advice)
	}
	return refuse("%q is not a unit of size", unit).hint(advice)
}

// String is the size in the greatest unit that is exact.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// MarshalText is String.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// FileMode is the permissions of a file, written in octal, as in 0640.
type FileMode uint32

// UnmarshalText reads three octal digits, with or without leading zero.
func (m *FileMode) UnmarshalText(text []byte) error {
	t := strings.TrimPrefix(strings.TrimPrefix(string(text), "0o"), "0")
	n, err := strconv.ParseUint(t, 8, 32)
	if err != nil || len(t) != 3 {
		return refuse("%q is not a file mode", text).hint("write three octal digits, as in 0640")
	}
	if n&0o400 == 0 {
		return refuse("mode %q lets not even the owner read", text).hint("0640 is usual")
	}
	if n&0o002 != 0 {
		return refuse("mode %q lets everybody write", text).hint("0640 is usual")
	}
	if n&0o111 != 0 {
		return refuse("mode %q makes data files executable", text).hint("directories get search bits by themselves; 0640 is usual")
	}
	*m = FileMode(n)
	return nil
}

// String is the mode in octal with a leading zero.
func (m FileMode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText is String.
func (m FileMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Dir is the mode of a directory whose files have mode m: who may read may search.
func (m FileMode) Dir() FileMode { return m | m&0o444>>2 | m&0o200>>1 }

var durationPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)(ms|s|m|h|d)`)

// parseDuration reads a duration such as 15s, 1h30m or 7d; the unit is never left out.
func parseDuration(text string) (time.Duration, error) {
	const advice = "write a number with ms, s, m, h or d, as in 15s or 1h30m"
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, refuse("%q has no unit", text).hint(advice)
	}
	units := map[string]float64{"ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9}
	total, rest := 0.0, text
	for rest != "" {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, refuse("%q is not a duration", text).hint(advice)
		}
		n, _ := strconv.ParseFloat(part[1], 64) // the pattern leaves no other error than overflow to +Inf
		total += n * units[part[2]]
		rest = rest[len(part[0]):]
	}
	if text == "" || total > float64(365*24*time.Hour) {
		return 0, refuse("%q is not a duration of at most 365d", text).hint(advice)
	}
	return time.Duration(total), nil
}

// formatDuration writes a duration as people write it: 1h, not 1h0m0s.
func formatDuration(d time.Duration) string {
	if d != 0 && d%(24*time.Hour) == 0 && d > 24*time.Hour {
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Zone is a time zone by its IANA name. The zero Zone is none.
type Zone struct{ loc *time.Location }

// UnmarshalText looks the zone up. "Local" is refused: a job means the same on every host.
func (z *Zone) UnmarshalText(text []byte) error {
	name := string(text)
	const advice = "write an IANA name, as in Asia/Seoul or UTC"
	if name == "" || strings.EqualFold(name, "local") {
		return refuse("%q names no fixed time zone", name).hint(advice)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return refuse("time zone %q is not known", name).hint(advice)
	}
	z.loc = loc
	return nil
}

// Location is the zone, UTC when there is none.
func (z Zone) Location() *time.Location {
	if z.loc == nil {
		return time.UTC
	}
	return z.loc
}

// IsZero says that no zone was given.
func (z Zone) IsZero() bool { return z.loc == nil }

// String is the zone's name.
func (z Zone) String() string {
	if z.loc == nil {
		return ""
	}
	return z.loc.String()
}

// MarshalText is String.
func (z Zone) MarshalText() ([]byte, error) { return []byte(z.String()), nil }

// TypeName is a column type of the target, as in decimal(38,4) or string.
type TypeName string

var decimalType = regexp.MustCompile(`^decimal\((\d{1,2}),(\d{1,2})\)$`)

// UnmarshalText reads a type and writes it in its canonical form: lower case, no blanks.
func (t *TypeName) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.ReplaceAll(string(text), " ", ""))
	if s == "string" {
		*t = TypeName(s)
		return nil
	}
	m := decimalType.FindStringSubmatch(s)
	if m == nil {
		return refuse("%q is not a type that a column can be given", text).hint("string or decimal(precision,scale)")
	}
	precision, _ := strconv.Atoi(m[1])
	scale, _ := strconv.Atoi(m[2])
	if precision < 1 || precision > 38 || scale > precision {
		return refuse("%q is out of range", text).hint("precision 1 to 38, scale 0 to precision")
	}
	*t = TypeName(fmt.Sprintf("decimal(%d,%d)", precision, scale))
	return nil
}
