package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic = "PAR1"

	timeZoneKey  = "writer.time.zone"
	prolepticKey = "writer.date.proleptic"

	createdBy = "loadctl"
)

// tailWriter passes a file on, and at its end holds back what parquet-go writes there (page index and footer),
// to be replaced by a footer of ours.
type tailWriter struct {
	w        io.Writer
	calendar Calendar
	written  int64
	holding  bool
	held     []byte
}

func (t *tailWriter) Write(p []byte) (int, error) {
	if t.holding {
		t.held = append(t.held, p...)
		return len(p), nil
	}
	n, err := t.w.Write(p)
	t.written += int64(n)
	return n, err
}

// finish writes the footer that the held one becomes.
func (t *tailWriter) finish() error {
	meta, err := readFooter(t.held)
	if err != nil {
		return err
	}
	toProfile(meta, t.calendar)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		return fmt.Errorf("encode footer: %w", err)
	}
	t.holding = false
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	_, err = t.Write(append(footer, magic...))
	return err
}

// readFooter takes the footer off the end of a file.
func readFooter(tail []byte) (*format.FileMetaData, error) {
	const trailer = 4 + len(magic)
	if len(tail) < trailer || string(tail[len(tail)-len(magic):]) != magic {
		return nil, errors.New("decode footer: it does not end with " + magic)
	}
	end := len(tail) - trailer
	length := int64(binary.LittleEndian.Uint32(tail[end:]))
	if length > int64(end) {
		return nil, fmt.Errorf("decode footer: %d bytes long by its trailer, %d are there", length, end)
	}
	meta := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), tail[end-int(length):end], meta); err != nil {
		return nil, fmt.Errorf("decode footer: %w", err)
	}
	return meta, nil
}

// toProfile sets what parquet-go gets wrong for our readers; doc.go has the reasons.
func toProfile(meta *format.FileMetaData, calendar Calendar) {
	for i := range meta.Schema {
		e := &meta.Schema[i]
		if e.Type.Valid && e.Type.V != format.FixedLenByteArray {
			e.TypeLength = thrift.Null[int32]{}
		}
	}
	for i := range meta.RowGroups {
		for j := range meta.RowGroups[i].Columns {
			c := &meta.RowGroups[i].Columns[j]
			c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0
			c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0
			c.MetaData.Statistics = format.Statistics{NullCount: c.MetaData.Statistics.NullCount}
		}
	}
	meta.KeyValueMetadata = []format.KeyValue{
		{Key: calendarKey, Value: calendar.String()},
		{Key: prolepticKey, Value: "true"},
		{Key: timeZoneKey, Value: "UTC"},
	}
	meta.CreatedBy = createdBy
}
