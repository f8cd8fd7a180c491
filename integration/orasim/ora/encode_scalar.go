package ora

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// EncodeFloat writes a BINARY_FLOAT: IEEE big-endian with the sign bit turned so that bytes compare as numbers.
func EncodeFloat(f float32) Value {
	if f == 0 {
		f = 0 // Oracle keeps no negative zero
	}
	bits := math.Float32bits(f)
	if math.IsNaN(float64(f)) {
		bits = 0x7fc00000 // one NaN, above everything
	}
	if bits>>31 == 0 {
		bits |= 1 << 31
	} else {
		bits = ^bits
	}
	return binary.BigEndian.AppendUint32(nil, bits)
}

// DecodeFloat reads a BINARY_FLOAT.
func DecodeFloat(v Value) (float32, error) {
	if len(v) != 4 {
		return 0, fmt.Errorf("decode binary_float: %d bytes", len(v))
	}
	bits := binary.BigEndian.Uint32(v)
	if bits>>31 == 1 {
		bits &^= 1 << 31
	} else {
		bits = ^bits
	}
	return math.Float32frombits(bits), nil
}

// EncodeDouble writes a BINARY_DOUBLE, as EncodeFloat does.
func EncodeDouble(f float64) Value {
	if f == 0 {
		f = 0
	}
	bits := math.Float64bits(f)
	if math.IsNaN(float64(f)) {
		bits = 0x7ff8000000000000
	}
	if bits>>63 == 0 {
		bits |= 1 << 63
	} else {
		bits = ^bits
	}
	return binary.BigEndian.AppendUint64(nil, bits)
}

// DecodeDouble reads a BINARY_DOUBLE.
func DecodeDouble(v Value) (float64, error) {
	if len(v) != 8 {
		return 0, fmt.Errorf("decode binary_double: %d bytes", len(v))
	}
	bits := binary.BigEndian.Uint64(v)
	if bits>>63 == 1 {
		bits &^= 1 << 63
	} else {
		bits = ^bits
	}
	return math.Float64frombits(bits), nil
}

// EncodeNational writes text in the national character set, AL16UTF16 (big-endian).
func EncodeNational(s string) Value {
	units := utf16.Encode([]rune(s))
	v := make(Value, 0, 2*len(units))
	for _, u := range units {
		v = binary.BigEndian.AppendUint16(v, u)
	}
	return v
}

// DecodeNational reads AL16UTF16; an odd last byte is dropped, as a client would.
func DecodeNational(v Value) string {
	units := make([]uint16, len(v)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(v[2*i:])
	}
	return string(utf16.Decode(units))
}

const intervalBias = 1 << 31

// EncodeMonths writes an INTERVAL YEAR TO MONTH of so many months.
func EncodeMonths(months int) Value {
	v := binary.BigEndian.AppendUint32(nil, uint32(months/12+intervalBias))
	return append(v, byte(months%12+60))
}

// DecodeMonths reads an INTERVAL YEAR TO MONTH as months.
func DecodeMonths(v Value) (int, error) {
	if len(v) != 5 {
		return 0, fmt.Errorf("decode interval year to month: %d bytes", len(v))
	}
	return (int(binary.BigEndian.Uint32(v))-intervalBias)*12 + int(v[4]) - 60, nil
}

// Span is a decoded INTERVAL DAY TO SECOND; both parts have the same sign.
type Span struct {
	Seconds int64
	Nanos   int
}

// Encode writes the 11 bytes of an INTERVAL DAY TO SECOND.
func (s Span) Encode() Value {
	v := binary.BigEndian.AppendUint32(make(Value, 0, 11), uint32(s.Seconds/secondsPerDay+intervalBias))
	rest := int(s.Seconds % secondsPerDay)
	v = append(v, byte(rest/3600+60), byte(rest/60%60+60), byte(rest%60+60))
	return binary.BigEndian.AppendUint32(v, uint32(s.Nanos+intervalBias))
}

// DecodeSpan reads an INTERVAL DAY TO SECOND.
func DecodeSpan(v Value) (Span, error) {
	if len(v) != 11 {
		return Span{}, fmt.Errorf("decode interval day to second: %d bytes", len(v))
	}
	days := int64(binary.BigEndian.Uint32(v)) - intervalBias
	seconds := days*secondsPerDay + int64(v[4])*3600 + int64(v[5])*60 + int64(v[6]) - 60*(3600+60+1)
	return Span{seconds, int(binary.BigEndian.Uint32(v[7:])) - intervalBias}, nil
}
