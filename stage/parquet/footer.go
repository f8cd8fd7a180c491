package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic = "PAR1"

	timeZoneKey  = "writer.time.zone"
	prolepticKey = "writer.date.proleptic"

	createdBy = "loadctl"
)

// sink counts the bytes of a file.
type sink struct {
	w       io.Writer
	written int64
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.written += int64(n)
	return n, err
}

// writeChunk writes a column's part of a row group of so many rows, and describes it. The page at hand must have been
// cut.
func (w *Writer) writeChunk(i int, rows int64) (format.ColumnChunk, error) {
	c, start := w.columns[i], w.out.written
	meta := format.ColumnMetaData{
		Type: w.schema[i+1].Type.V, Encoding: c.encodings(), PathInSchema: []string{c.name}, Codec: w.opt.Codec.format(),
		NumValues: rows, TotalUncompressedSize: c.chunk.raw, Statistics: c.statistics(), EncodingStats: c.encodingStats(),
	}
	if c.chunk.indexedPages > 0 {
		meta.DictionaryPageOffset = start
		raw, err := w.writeDictionary(c)
		if err != nil {
			return format.ColumnChunk{}, fmt.Errorf("column %q: %w", c.name, err)
		}
		meta.TotalUncompressedSize += raw
	}
	meta.DataPageOffset = w.out.written
	if err := c.chunk.blocks.drain(&w.out); err != nil {
		return format.ColumnChunk{}, err
	}
	meta.TotalCompressedSize = w.out.written - start
	c.beginChunk()
	return format.ColumnChunk{FileOffset: start, MetaData: meta}, nil
}

// writeDictionary writes the page that goes before those that name its texts.
func (w *Writer) writeDictionary(c *column) (raw int64, err error) {
	w.texts = c.dict.appendPlain(w.texts[:0])
	page := blocks{pool: w.pool}
	raw, err = w.pager.add(&page, &format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(c.dict.len()), Encoding: plainDictionary,
	})}, w.texts)
	if err != nil {
		return 0, err
	}
	return raw, page.drain(&w.out)
}

// encodingStats lets a reader know without reading pages whether a dictionary has all of a chunk's texts.
func (c *column) encodingStats() []format.PageEncodingStats {
	var list []format.PageEncodingStats
	add := func(page format.PageType, encoding format.Encoding, count int32) {
		if count > 0 {
			list = append(list, format.PageEncodingStats{PageType: page, Encoding: encoding, Count: count})
		}
	}
	add(format.DictionaryPage, plainDictionary, min(c.chunk.indexedPages, 1))
	add(format.DataPage, plainDictionary, c.chunk.indexedPages)
	add(format.DataPage, format.Plain, c.chunk.plainPages)
	return list
}

// flush writes the row group at hand, if it has rows.
func (w *Writer) flush() error {
	if w.grouped == 0 {
		return nil
	}
	if len(w.groups) == math.MaxInt16 {
		return fmt.Errorf("the file has %d row groups, the format holds no more: raise RowGroupBytes", len(w.groups))
	}
	group := format.RowGroup{NumRows: w.grouped, FileOffset: w.out.written, Ordinal: int16(len(w.groups))}
	for i, c := range w.columns {
		if err := c.cut(w.pager); err != nil {
			return err
		}
		chunk, err := w.writeChunk(i, w.grouped)
		if err != nil {
			return err
		}
		group.Columns = append(group.Columns, chunk)
		group.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		group.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
	}
	w.groups = append(w.groups, group)
	w.rows += w.grouped
	w.grouped = 0
	return nil
}

// writeFooter ends the file.
func (w *Writer) writeFooter() error {
	meta := format.FileMetaData{
		Version: 1, Schema: w.schema, NumRows: w.rows, RowGroups: w.groups, CreatedBy: createdBy,
		KeyValueMetadata: []format.KeyValue{
			{Key: calendarKey, Value: w.opt.Calendar.String()},
			{Key: prolepticKey, Value: "true"},
			{Key: timeZoneKey, Value: "UTC"},
		},
	}
	for range w.columns { // without them, readers must not trust the bounds
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return fmt.Errorf("encode footer: %w", err)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	_, err = w.out.Write(append(footer, magic...))
	return err
}
