package extract

import (
	"fmt"
	"slices"
)

// Kind is how values of a column are held in a Vector.
type Kind uint8

// Kinds. A source type maps to exactly one, by a table in the adapter.
const (
	Decimal   Kind = iota + 1 // an exact integer of a fixed scale
	Timestamp                 // a day and a nanosecond of day, without zone
	Text                      // UTF-8
	Binary                    // bytes as they are
	Float32
	Float64
)

var kindNames = [...]string{Decimal: "decimal", Timestamp: "timestamp", Text: "text", Binary: "binary", Float32: "float32", Float64: "float64"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MarshalText writes the word, so that stored plans can be read by people and survive a renumbering.
func (k Kind) MarshalText() ([]byte, error) {
	if int(k) >= len(kindNames) {
		return nil, fmt.Errorf("marshal kind %d: unknown", uint8(k))
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads the word; no word is no kind, as in a slice that has no column.
func (k *Kind) UnmarshalText(p []byte) error {
	i := slices.Index(kindNames[:], string(p))
	if i < 0 {
		return fmt.Errorf("unmarshal kind %q: unknown", p)
	}
	*k = Kind(i)
	return nil
}

// MaxNarrow is the greatest precision of a decimal that fits an int64.
const MaxNarrow = 18

// Type is the type of a column in flight.
type Type struct {
	Kind      Kind `json:"kind"`
	Precision int  `json:"precision,omitempty"` // Decimal: digits, 1..38
	Scale     int  `json:"scale,omitempty"`     // Decimal: 0..Precision; Timestamp: digits of the fraction, 0..9
	Length    int  `json:"length,omitempty"`    // Text: greatest length in characters, 0 unknown; Binary: in bytes
	Fixed     bool `json:"fixed,omitempty"`     // Text: blank-padded to Length by the source (CHAR)
}

// Wide says whether a decimal needs 128 bits.
func (t Type) Wide() bool { return t.Kind == Decimal && t.Precision > MaxNarrow }

func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Timestamp:
		return fmt.Sprintf("timestamp(%d)", t.Scale)
	default:
		return t.Kind.String()
	}
}
