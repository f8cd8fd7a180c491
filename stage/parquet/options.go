package parquet

import "math"

// Options say who will read a file, and bound what a Writer keeps in memory. Zero values are defaults.
type Options struct {
	// RowGroupBytes is what a Writer holds of a row group before it writes it out: compressed pages, pages at hand and
	// dictionaries. A row group exceeds it by a quarter at most, unless a single row does. With buffers that are half empty
	// a Writer takes twice as much, and for the footer 1 KiB a column and row group. 0: 64 MiB.
	RowGroupBytes int64
	RowGroupRows  int64 // greatest number of rows of a row group; 0: 1 Mi
	// PageBytes is the size at which a page ends, before compression; a single value may be larger. Where there are so
	// many columns that their pages would take more than a quarter of RowGroupBytes, pages are smaller. 0: 64 KiB.
	PageBytes int
	// DictionaryBytes is the size, with its index in memory, at which a text column's dictionary is given up for the
	// row group; as with pages, all dictionaries share a quarter of RowGroupBytes. 0: 512 KiB.
	DictionaryBytes int64

	Calendar   Calendar   // of INT96 timestamps before 1582-10-15; 0: Hive's
	Timestamps Timestamps // 0: INT96
	Codec      Codec      // 0: Snappy
}

// Timestamps says how a file holds timestamps.
type Timestamps uint8

// Forms of timestamps. Both are wall clock, shifted by no zone.
const (
	// Int96 holds nanoseconds. Deprecated by the format, and read by all: Hive 3 and 4, Impala, Spark.
	Int96 Timestamps = iota
	// Int64Micros holds microseconds, in the proleptic calendar: for Hive 4 and readers younger than it. A timestamp with
	// nanoseconds is refused, not cut.
	Int64Micros
)

// Codec says how pages are compressed.
type Codec uint8

// Codecs.
const (
	Snappy Codec = iota // read by all
	Zstd                // a quarter smaller, for several times the CPU: worth it where the network is the limit
)

// limits are Options for a number of columns, with defaults in place.
type limits struct {
	groupBytes int64
	groupRows  int64
	page       int // bytes of a page before compression, and of a block of the pool
	pageRows   int
	dictionary int // bytes
}

const (
	leastPage     = 4 << 10
	mostPage      = 1 << 30 // a page's sizes are 32 bits
	mostPageRows  = 16 << 10
	leastPageRows = 1 << 10
)

func (o Options) limits(columns, texts int) limits {
	l := limits{
		groupBytes: orDefault(o.RowGroupBytes, 64<<20),
		groupRows:  orDefault(o.RowGroupRows, 1<<20),
	}
	page := min(orDefault(int64(o.PageBytes), 64<<10), mostPage)
	l.page = int(min(page, max(l.groupBytes/4/int64(max(columns, 1)), leastPage)))
	l.pageRows = min(max(l.page/4, leastPageRows), mostPageRows)
	dictionary := min(orDefault(o.DictionaryBytes, 512<<10), math.MaxInt32/2) // its index counts in 32 bits
	l.dictionary = int(min(dictionary, l.groupBytes/4/int64(max(texts, 1))))
	return l
}

func orDefault(n, otherwise int64) int64 {
	if n > 0 {
		return n
	}
	return otherwise
}
