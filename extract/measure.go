package extract

import (
	"errors"
	"fmt"
)

// Choice says which columns get exact sums and extremes, beside the number of their values. The zero value
// is the default: the split column, the timestamps, and the decimals of up to MaxNarrow digits, which every
// engine adds up cheaply.
type Choice struct {
	All     bool     // every column that has them, wide decimals too
	Columns []string // only these (exact names) and the split column
}

// Measurable says whether source, stream and warehouse can all compute w exactly for values of type t.
func Measurable(t Type, w What) bool {
	switch w {
	case NonNull:
		return true
	case Sum:
		return t.Kind == Decimal
	case Min, Max:
		return t.Kind == Decimal || t.Kind == Timestamp
	default:
		return false
	}
}

// DefaultMeasures lists what is measured of a table: its rows, the non-NULL values of every column (cheap
// everywhere, and it catches the commonest damage, values that became NULL), and of the columns that the
// choice names sum, least and greatest value as far as the type has them. split may be "". A chosen name that
// the table lacks is ErrNoColumn.
func DefaultMeasures(t *Table, split string, choice Choice) ([]Measure, error) {
	var errs []error
	chosen := map[string]bool{split: true}
	for _, name := range choice.Columns {
		if _, ok := t.Column(name); !ok {
			errs = append(errs, fmt.Errorf("measure %q: %w", name, ErrNoColumn))
		}
		chosen[name] = true
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	out := []Measure{{What: Rows}}
	for _, c := range t.Columns {
		out = append(out, Measure{Column: c.Name, Type: c.Type, What: NonNull})
		deep := choice.All || chosen[c.Name] || (len(choice.Columns) == 0 && !c.Type.Wide())
		if !deep {
			continue
		}
		for _, w := range []What{Sum, Min, Max} {
			if Measurable(c.Type, w) {
				out = append(out, Measure{Column: c.Name, Type: c.Type, What: w})
			}
		}
	}
	return out, nil
}
