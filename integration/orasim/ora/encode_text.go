package ora

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// NullText stands for NULL where Text renders rows.
const NullText = `\N`

// Text renders a value in one canonical, session-independent form, for images that tests compare: plain
// decimals, ISO dates with all fraction digits that are not 0, upper-case hex for RAW and BLOB, NullText.
// Bytes that are no value of the type show as "?hex".
func Text(t Type, v Value) string {
	if v == nil || len(v) == 0 && t.Code != Clob && t.Code != Blob { // a LOB may be empty
		return NullText
	}
	s, err := text(t, v)
	if err != nil {
		return "?" + strings.ToUpper(hex.EncodeToString(v))
	}
	return s
}

func text(t Type, v Value) (string, error) {
	switch t.Code {
	case Number:
		n, err := DecodeNumber(v)
		return n.String(), err
	case Date, Timestamp, TimestampLTZ:
		w, err := DecodeTime(v)
		return isoText(w), err
	case TimestampTZ:
		w, offset, err := DecodeTZ(v)
		return isoText(w) + OffsetText(offset), err
	case BinaryFloat:
		f, err := DecodeFloat(v)
		return strconv.FormatFloat(float64(f), 'g', -1, 32), err
	case BinaryDouble:
		f, err := DecodeDouble(v)
		return strconv.FormatFloat(f, 'g', -1, 64), err
	case Rowid:
		r, err := DecodeRowID(v)
		return r.String(), err
	case IntervalYM:
		m, err := DecodeMonths(v)
		return fmt.Sprintf("%d months", m), err
	case IntervalDS:
		s, err := DecodeSpan(v)
		sign := ""
		if s.Seconds < 0 || s.Nanos < 0 {
			sign, s.Seconds, s.Nanos = "-", -s.Seconds, -s.Nanos
		}
		return fmt.Sprintf("%s%d.%09d seconds", sign, s.Seconds, s.Nanos), err
	case Raw, LongRaw, Blob:
		return strings.ToUpper(hex.EncodeToString(v)), nil
	}
	if t.Form == FormNational {
		return DecodeNational(v), nil
	}
	return string(v), nil
}

func isoText(t Time) string {
	s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", t.Year, t.Month, t.Day, t.Hour, t.Minute, t.Sec)
	if t.Nano != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%09d", t.Nano), "0")
	}
	return s
}

// OffsetText writes an offset from UTC in minutes as +HH:MM.
func OffsetText(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60)
}
