package extract

import (
	"fmt"
	"math/big"
)

// PlanSingle is the plan of one slice that holds every row.
func PlanSingle() []Slice { return []Slice{{Shape: Whole}} }

// PlanRange cuts the values of a decimal or timestamp column into at most parts ranges of even width, whose bounds
// the extremes in b decide. The first is open below and the last above, each begins where the one before it
// ends, and the NULLs of a column that may hold them are a slice of their own, expected or not: so the slices are
// disjoint and hold every row, whatever the bounds. There are fewer than parts ranges when there are fewer
// distinct values to tell apart.
func PlanRange(c Column, b Bounds, parts int) ([]Slice, error) {
	if parts < 1 {
		return nil, fmt.Errorf("plan range of %q: %d parts", c.Name, parts)
	}
	axis, err := newAxis(c)
	if err != nil {
		return nil, err
	}
	var cuts []string
	if b.Min != "" {
		if cuts, err = axis.cuts(b.Min, b.Max, parts); err != nil {
			return nil, fmt.Errorf("plan range of %q: %w", c.Name, err)
		}
	}
	var out []Slice
	from := ""
	for _, below := range append(cuts, "") {
		out = append(out, Slice{ID: len(out), Shape: Range, Column: c.Name, Kind: c.Type.Kind, From: from, Below: below})
		from = below
	}
	if c.Nullable || b.Nulls > 0 {
		out = append(out, Slice{ID: len(out), Shape: IsNull, Column: c.Name, Kind: c.Type.Kind})
	}
	return out, nil
}

// axis maps the values of a column to integers, at the column's scale, and back to canonical text.
type axis struct {
	kind  Kind
	scale int
}

func newAxis(c Column) (axis, error) {
	if c.Type.Kind != Decimal && c.Type.Kind != Timestamp {
		return axis{}, fmt.Errorf("split by %q, which is %s: %w; a range needs a number, a date or a timestamp", c.Name, c.Type, ErrUnsupported)
	}
	return axis{kind: c.Type.Kind, scale: c.Type.Scale}, nil
}

// fineEnough is how many steps a part should have before the width of parts counts as even.
const fineEnough = 1000

// cuts returns the inner bounds, ascending and distinct. They are as round as evenness allows: whole numbers (or
// whole seconds) unless that would make the parts uneven.
func (a axis) cuts(least, greatest string, parts int) ([]string, error) {
	from, err := a.position(least)
	if err != nil {
		return nil, err
	}
	to, err := a.position(greatest)
	if err != nil {
		return nil, err
	}
	if from.Cmp(to) > 0 {
		return nil, fmt.Errorf("%s is greater than %s", least, greatest)
	}
	unit := a.unit(from, to, parts)
	// Both ends in units, rounded down; the end is exclusive.
	first, end := floorDiv(from, unit), floorDiv(to, unit)
	end.Add(end, big.NewInt(1))
	width := new(big.Int).Sub(end, first)
	var out []string
	last := first
	for i := 1; i < parts; i++ {
		cut := new(big.Int).Mul(width, big.NewInt(int64(i)))
		cut.Quo(cut, big.NewInt(int64(parts)))
		cut.Add(cut, first)
		if cut.Cmp(last) > 0 {
			out = append(out, a.text(new(big.Int).Mul(cut, unit)))
			last = cut
		}
	}
	return out, nil
}

// unit is the greatest power of ten of the column's last digit, up to 1, that leaves enough steps in a part.
func (a axis) unit(from, to *big.Int, parts int) *big.Int {
	span := new(big.Int).Sub(to, from)
	need := big.NewInt(int64(parts) * fineEnough)
	unit := rescale(big.NewInt(1), a.scale)
	if new(big.Int).Rem(from, unit).Sign() == 0 && new(big.Int).Rem(to, unit).Sign() == 0 {
		need = big.NewInt(int64(parts) - 1) // whole numbers at both ends: a key, most likely
	}
	for range a.scale {
		if new(big.Int).Quo(span, unit).Cmp(need) >= 0 {
			break
		}
		unit.Quo(unit, big.NewInt(10))
	}
	return unit
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) }

// position maps canonical text to an integer. Digits beyond the scale are dropped: bounds decide how even the
// parts are, never whether they hold every row.
func (a axis) position(s string) (*big.Int, error) {
	if a.kind == Timestamp {
		day, nano, err := ParseTimestamp(s)
		if err != nil {
			return nil, err
		}
		n := big.NewInt(int64(day))
		n.Mul(n, big.NewInt(nanosPerDay)).Add(n, big.NewInt(nano))
		return floorDiv(n, rescale(big.NewInt(1), 9-a.scale)), nil
	}
	n, scale, err := parseBig(s)
	if err != nil {
		return nil, err
	}
	if scale > a.scale {
		return floorDiv(n, rescale(big.NewInt(1), scale-a.scale)), nil
	}
	return rescale(n, a.scale-scale), nil
}

func (a axis) text(n *big.Int) string {
	if a.kind == Decimal {
		return formatBig(n, a.scale)
	}
	day, nano := new(big.Int).DivMod(rescale(n, 9-a.scale), big.NewInt(nanosPerDay), new(big.Int))
	return FormatTimestamp(int32(day.Int64()), nano.Int64())
}
