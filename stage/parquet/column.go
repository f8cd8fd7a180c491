package parquet

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

const (
	nanosPerDay  = 24 * 60 * 60 * 1_000_000_000
	microsPerDay = nanosPerDay / 1000

	// A page of indexes may hold so many times the text of a page of text.
	indexedPages = 4
)

// plainDictionary is the name of dictionary encoding that parquet-mr gives it in version 1 pages, so that every reader
// knows it. The format deprecates it for version 2.
const plainDictionary format.Encoding = 2

// column turns a Vector into the pages of one column. Between batches it keeps the page at hand and the chunk's pages,
// and no memory but what limits allow.
type column struct {
	name       string
	typ        extract.Type
	limits     limits
	calendar   Calendar
	timestamps Timestamps
	width      int    // of a value in bytes; 0: each has its own
	decimals   bounds // of the type

	levels  []uint8 // of the page at hand: 1 or 0 a row
	values  []byte  // PLAIN, after room for the encoded levels
	nulls   int
	micros  []int64 // of the run at hand
	dict    *dictionary
	indexed bool     // the page at hand is indexes, and has no values yet
	indexes []uint32 // of the page at hand
	plain   int      // bytes that the indexes would be as PLAIN
	named   int      // texts of the dictionary that written pages may name

	chunk chunk
}

// chunk is what a row group has of a column so far, without the page at hand.
type chunk struct {
	blocks       blocks
	raw          int64 // bytes of pages and headers before compression
	nulls        int64
	bounds       bounds
	plainPages   int32
	indexedPages int32
}

func newColumn(c stage.Column, opt Options, l limits, p *pool) *column {
	out := &column{name: c.Name, typ: c.Type, limits: l, calendar: opt.Calendar, timestamps: opt.Timestamps}
	switch c.Type.Kind {
	case extract.Decimal:
		out.width = decimalLength(c.Type.Precision)
		most := largest(c.Type.Precision)
		out.decimals = bounds{low: most.Neg(), high: most}
	case extract.Timestamp:
		out.width = int96Length
		if opt.Timestamps == Int64Micros {
			out.width = 8
		}
	case extract.Float32:
		out.width = 4
	case extract.Float64:
		out.width = 8
	case extract.Text:
		out.dict = newDictionary(l.dictionary)
	}
	out.chunk.blocks.pool = p
	out.beginChunk()
	return out
}

func (c *column) beginChunk() {
	c.chunk = chunk{blocks: c.chunk.blocks, bounds: noBounds()}
	c.named = 0
	if c.indexed = c.dict != nil; c.indexed {
		c.dict.reset()
	}
	c.beginPage()
}

func (c *column) beginPage() {
	head := levelsRoom(c.limits.pageRows)
	if cap(c.values) > 2*(c.limits.page+head) || cap(c.values) < head {
		c.values = make([]byte, head) // what one large value took is given back
	}
	c.levels, c.values, c.indexes = c.levels[:0], c.values[:head], c.indexes[:0]
	c.nulls, c.plain = 0, 0
}

// pending is how many bytes the page at hand has.
func (c *column) pending() int {
	return len(c.levels) + len(c.values) - levelsRoom(c.limits.pageRows) + 4*len(c.indexes)
}

// held is about how much memory the chunk takes.
func (c *column) held() int64 {
	n := c.chunk.blocks.size + int64(c.pending())
	if c.dict != nil {
		n += int64(c.dict.size())
	}
	return n
}

// check says whether v is a vector of this column with so many rows.
func (c *column) check(v *extract.Vector, rows int) error {
	if v.Type.Kind != c.typ.Kind || v.Type.Wide() != c.typ.Wide() || v.Type.Kind == extract.Decimal && v.Type.Scale != c.typ.Scale {
		return fmt.Errorf("column %q: a vector of %v for a column of %v", c.name, v.Type, c.typ)
	}
	if v.Len() != rows {
		return fmt.Errorf("column %q: a vector of %d values in a batch of %d rows", c.name, v.Len(), rows)
	}
	return nil
}

// write adds the rows from..to of v, page by page.
func (c *column) write(v *extract.Vector, from, to int, out *pager) error {
	for from < to {
		end := from + c.fit(v, from, to)
		if err := c.add(v, from, end); err != nil {
			return err
		}
		if len(c.levels) >= c.limits.pageRows || c.left() <= 0 {
			if err := c.cut(out); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

// left is how many bytes of PLAIN values the page at hand has room for.
func (c *column) left() int {
	if c.indexed {
		return indexedPages*c.limits.page - c.plain
	}
	return c.limits.page - (len(c.values) - levelsRoom(c.limits.pageRows))
}

// fit is how many rows, one at least, go into the page at hand.
func (c *column) fit(v *extract.Vector, from, to int) int {
	n := min(to-from, c.limits.pageRows-len(c.levels))
	if c.width > 0 {
		return max(min(n, c.left()/c.width+1), 1)
	}
	start, left := startOf(v, from), c.left()
	return 1 + sort.Search(n-1, func(i int) bool { // is the row after next too much?
		return int(v.End[from+i+1]-start)+4*(i+2) > left
	})
}

// add appends rows to the page at hand.
func (c *column) add(v *extract.Vector, from, to int) error {
	valid := v.Valid[from:to]
	var err error
	switch c.typ.Kind {
	case extract.Decimal:
		err = c.addDecimals(v, from, to)
	case extract.Timestamp:
		err = c.addTimes(v.Day[from:to], v.Nano[from:to], valid)
	case extract.Float32:
		c.values = appendFloat32(c.values, v.F32[from:to], valid)
	case extract.Float64:
		c.values = appendFloat64(c.values, v.F64[from:to], valid)
	default:
		c.addTexts(v, from, to)
	}
	c.levels = append(c.levels, valid...)
	for _, l := range valid {
		c.nulls += 1 - int(l)
	}
	return err
}

func (c *column) addDecimals(v *extract.Vector, from, to int) error {
	valid := v.Valid[from:to]
	var found bounds
	if c.typ.Wide() {
		found = wideBounds(v.Wide[from:to], valid)
	} else {
		found = narrowBounds(v.Int[from:to], valid)
	}
	if !found.empty() && (found.low.Cmp(c.decimals.low) < 0 || found.high.Cmp(c.decimals.high) > 0) {
		unfit := found.high
		if found.low.Cmp(c.decimals.low) < 0 {
			unfit = found.low
		}
		return c.unfit(extract.FormatDecimal(unfit, c.typ.Scale))
	}
	c.chunk.bounds = c.chunk.bounds.with(found)
	if c.typ.Wide() {
		c.values = appendWide(c.values, v.Wide[from:to], valid, c.width)
	} else {
		c.values = appendNarrow(c.values, v.Int[from:to], valid, c.width)
	}
	return nil
}

func (c *column) addTimes(days []int32, nanos []int64, valid []uint8) error {
	for i, day := range days {
		if nano := nanos[i]; day < extract.MinDay || day > extract.MaxDay || nano < 0 || nano >= nanosPerDay {
			return c.unfit(fmt.Sprintf("day %d, nanosecond %d", day, nano))
		}
	}
	if c.timestamps == Int64Micros {
		return c.addMicros(days, nanos, valid)
	}
	return c.addInt96(days, nanos, valid)
}

// addInt96 writes the nanosecond of the day, then the Julian day, both little-endian.
func (c *column) addInt96(days []int32, nanos []int64, valid []uint8) error {
	at := len(c.values)
	c.values = room(c.values, len(days), int96Length)
	for i, day := range days {
		julian := uint32(day + julianEpoch)
		if day < firstGregorian {
			var err error
			if julian, err = c.calendar.julianDay(day); err != nil {
				return c.unfit(extract.FormatTimestamp(day, nanos[i]))
			}
		}
		binary.LittleEndian.PutUint64(c.values[at:], uint64(nanos[i]))
		binary.LittleEndian.PutUint32(c.values[at+8:], julian)
		at += int96Length * int(valid[i])
	}
	c.values = c.values[:at]
	return nil
}

func (c *column) addMicros(days []int32, nanos []int64, valid []uint8) error {
	c.micros = c.micros[:0]
	for i, day := range days {
		if nanos[i]%1000 != 0 {
			return c.unfit(extract.FormatTimestamp(day, nanos[i]) + " has nanoseconds, the file microseconds")
		}
		c.micros = append(c.micros, int64(day)*microsPerDay+nanos[i]/1000)
	}
	c.chunk.bounds = c.chunk.bounds.with(narrowBounds(c.micros, valid))
	c.values = appendInt64(c.values, c.micros, valid)
	return nil
}

func (c *column) addTexts(v *extract.Vector, from, to int) {
	if c.indexed {
		from = c.addIndexes(v, from, to)
	}
	if from < to {
		c.values = appendTexts(c.values, v, from, to)
	}
}

// addIndexes appends indexes, up to the first text that the dictionary has no room for: there it is given up.
func (c *column) addIndexes(v *extract.Vector, from, to int) int {
	for i := from; i < to; i++ {
		if v.Valid[i] == 0 {
			continue
		}
		p := v.At(i)
		x, ok := c.dict.index(p)
		if !ok {
			c.giveUp()
			return i
		}
		c.indexes = append(c.indexes, x)
		c.plain += 4 + len(p)
	}
	return to
}

// giveUp goes on without a dictionary. Pages that are written keep what they name of it.
func (c *column) giveUp() {
	c.indexed = false
	for _, x := range c.indexes {
		c.values = appendText(c.values, c.dict.at(x))
	}
	c.indexes, c.plain = c.indexes[:0], 0
	c.dict.truncate(c.named)
}

// cut ends the page at hand.
func (c *column) cut(out *pager) error {
	rows := len(c.levels)
	if rows == 0 {
		return nil
	}
	encoding := c.endValues()
	out.levels = appendLevels(out.levels[:0], c.levels, c.nulls)
	start := levelsRoom(c.limits.pageRows) - len(out.levels)
	copy(c.values[start:], out.levels)
	raw, err := out.add(&c.chunk.blocks, &format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		Statistics: format.Statistics{NullCount: int64(c.nulls)},
	})}, c.values[start:])
	if err != nil {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	c.chunk.raw += raw
	c.chunk.nulls += int64(c.nulls)
	c.beginPage()
	return nil
}

// endValues makes values of the indexes of the page at hand. After the first page it sees whether they are worth it.
func (c *column) endValues() format.Encoding {
	if c.indexed && c.chunk.indexedPages == 0 && len(c.indexes) > 0 && !c.worthIndexing() {
		c.giveUp()
	}
	if len(c.indexes) == 0 { // or all are NULL
		c.chunk.plainPages++
		return format.Plain
	}
	c.values = appendIndexes(c.values, c.indexes, c.dict.len())
	c.chunk.indexedPages++
	c.named = c.dict.len()
	return plainDictionary
}

// worthIndexing says whether the first page's indexes and dictionary are smaller by a quarter than its texts.
func (c *column) worthIndexing() bool {
	return 4*(c.dict.plainSize()+2*len(c.indexes)) < 3*c.plain
}

func (c *column) unfit(value string) error {
	return fmt.Errorf("column %q of %v: %s: %w", c.name, c.typ, value, extract.ErrValue)
}

// encodings are those that the chunk's pages have.
func (c *column) encodings() []format.Encoding {
	list := []format.Encoding{format.RLE}
	if c.chunk.plainPages > 0 {
		list = append(list, format.Plain)
	}
	if c.chunk.indexedPages > 0 {
		list = append(list, plainDictionary)
	}
	slices.Sort(list)
	return list
}
