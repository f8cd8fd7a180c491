package extract

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Digest is an order-independent fingerprint of rows: two streams of the same rows in any order, cut into any
// batches and chunks, have the same one. Each column has the sum of the 64-bit hashes of its values, which
// names the column that differs; Row is the sum of the hashes of whole rows, which catches values that changed
// places between rows. Hashes cover kind and scale, so 1.5 is not 15. It guards against accidents and
// defects, not against an adversary.
type Digest struct {
	Rows    uint64
	Row     uint64
	Columns []uint64
}

// Merge adds the digest of other rows.
func (d *Digest) Merge(o Digest) error {
	if len(d.Columns) != len(o.Columns) {
		return fmt.Errorf("merge digests: %d columns and %d", len(d.Columns), len(o.Columns))
	}
	d.Rows += o.Rows
	d.Row += o.Row
	for i := range d.Columns {
		d.Columns[i] += o.Columns[i]
	}
	return nil
}

// Equal says whether both stand for the same rows.
func (d Digest) Equal(o Digest) bool { return d.String() == o.String() }

// Differences tells, in words, where two digests of the columns cols part.
func (d Digest) Differences(o Digest, cols []Column) []string {
	if len(d.Columns) != len(o.Columns) || len(cols) != len(d.Columns) {
		return []string{fmt.Sprintf("%d and %d columns are digested", len(d.Columns), len(o.Columns))}
	}
	var out []string
	if d.Rows != o.Rows {
		out = append(out, fmt.Sprintf("%d rows and %d", d.Rows, o.Rows))
	}
	for i, c := range cols {
		if d.Columns[i] != o.Columns[i] {
			out = append(out, fmt.Sprintf("column %q has other values", c.Name))
		}
	}
	if len(out) == 0 && d.Row != o.Row {
		out = append(out, "values changed places between rows")
	}
	return out
}

// digestVersion changes when the same rows get another digest, so that old and new are never compared.
const digestVersion = "d1"

// String is the text form: version, rows, row sum and column sums. ParseDigest reads it back.
func (d Digest) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s:%d:%016x", digestVersion, d.Rows, d.Row)
	for _, c := range d.Columns {
		fmt.Fprintf(&s, ":%016x", c)
	}
	return s.String()
}

// ParseDigest reads the text form.
func ParseDigest(s string) (Digest, error) {
	parts := strings.Split(s, ":")
	if len(parts) < 3 || parts[0] != digestVersion {
		return Digest{}, fmt.Errorf("parse digest %q: want %s:rows:sum and a sum a column", clip(s), digestVersion)
	}
	var d Digest
	var err error
	if d.Rows, err = strconv.ParseUint(parts[1], 10, 64); err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: rows: %w", clip(s), err)
	}
	if d.Row, err = strconv.ParseUint(parts[2], 16, 64); err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: %w", clip(s), err)
	}
	for _, p := range parts[3:] {
		c, err := strconv.ParseUint(p, 16, 64)
		if err != nil {
			return Digest{}, fmt.Errorf("parse digest %q: %w", clip(s), err)
		}
		d.Columns = append(d.Columns, c)
	}
	return d, nil
}

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDigest.
func (d *Digest) UnmarshalText(p []byte) error {
	parsed, err := ParseDigest(string(p))
	if err == nil {
		*d = parsed
	}
	return err
}

// Digester computes a Digest from batches, without allocation a row.
type Digester struct {
	seeds  []uint64
	digest Digest
	rows   []uint64 // hash of each row of the batch at hand, column by column
}

// NewDigester digests batches of these columns.
func NewDigester(cols []Column) *Digester {
	d := &Digester{seeds: make([]uint64, len(cols)), digest: Digest{Columns: make([]uint64, len(cols))}}
	for i, c := range cols {
		d.seeds[i] = seed(c.Type)
	}
	return d
}

// seed tells types apart whose values look alike. A timestamp's scale is left out: it bounds the fraction and
// does not change what a value means. So is precision: a narrow decimal is equal to the same wide one.
func seed(t Type) uint64 {
	s := uint64(t.Kind)
	if t.Kind == Decimal {
		s |= uint64(t.Scale) << 8
	}
	return mix(s, secret0)
}

// Digest is what has been added so far.
func (d *Digester) Digest() Digest {
	out := d.digest
	out.Columns = append([]uint64(nil), d.digest.Columns...)
	return out
}

// Reset starts over and keeps the memory.
func (d *Digester) Reset() {
	clear(d.digest.Columns)
	d.digest = Digest{Columns: d.digest.Columns}
}

// Add digests the rows of b.
func (d *Digester) Add(b *Batch) {
	if cap(d.rows) < b.Rows {
		d.rows = make([]uint64, b.Rows)
	}
	d.rows = d.rows[:b.Rows]
	clear(d.rows)
	for i := range b.Cols {
		d.digest.Columns[i] += d.addColumn(&b.Cols[i], d.seeds[i])
	}
	for _, h := range d.rows {
		d.digest.Row += mix(h, secret2)
	}
	d.digest.Rows += uint64(b.Rows)
}

// addColumn folds the column into the hash of each row and returns the sum of its values' hashes.
func (d *Digester) addColumn(v *Vector, seed uint64) uint64 {
	sum := uint64(0)
	for i := range d.rows {
		h := mix(seed, secret3) // NULL
		if v.Valid[i] != 0 {
			h = hashValue(v, i, seed)
		}
		sum += h
		d.rows[i] = mix(d.rows[i]+secret1, h) // order matters: a row is not the set of its values
	}
	return sum
}

func hashValue(v *Vector, i int, seed uint64) uint64 {
	switch {
	case v.Type.Wide():
		return hash128(seed, uint64(v.Wide[i].Hi), v.Wide[i].Lo)
	case v.Type.Kind == Decimal:
		return hash128(seed, uint64(v.Int[i]>>63), uint64(v.Int[i]))
	case v.Type.Kind == Timestamp:
		return hash128(seed, uint64(v.Day[i]), uint64(v.Nano[i]))
	case v.Type.Kind == Float32:
		return hash128(seed, 0, uint64(math.Float32bits(v.F32[i])))
	case v.Type.Kind == Float64:
		return hash128(seed, 0, math.Float64bits(v.F64[i]))
	default:
		return hashBytes(seed, v.At(i))
	}
}

// Odd constants with about as many ones as zeros, from the digits of pi.
const (
	secret0 uint64 = 0x243f6a8885a308d3
	secret1 uint64 = 0x13198a2e03707345
	secret2 uint64 = 0xa4093822299f31d1
	secret3 uint64 = 0x082efa98ec4e6c89
)

// mix folds the 128-bit product of a and b, each disturbed by its own constant so that a zero does not
// swallow the other.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^secret0, b^secret1)
	return hi ^ lo
}

func hash128(seed, hi, lo uint64) uint64 {
	return mix(mix(seed^lo, hi^secret2), secret3)
}

func hashBytes(seed uint64, p []byte) uint64 {
	h := mix(seed, uint64(len(p)))
	for len(p) >= 16 {
		h = mix(binary.LittleEndian.Uint64(p)^h, binary.LittleEndian.Uint64(p[8:])^secret2)
		p = p[16:]
	}
	var tail [16]byte
	copy(tail[:], p)
	h = mix(binary.LittleEndian.Uint64(tail[:])^h, binary.LittleEndian.Uint64(tail[8:])^secret2)
	return mix(h, secret3)
}
