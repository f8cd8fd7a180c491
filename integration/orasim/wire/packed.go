package wire

import (
	"context"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// packedBatch is how many rows are taken from a source at a time.
const packedBatch = 256

// packedSource is the cursor's source, if it has rows encoded already and nothing asks to see them one by one:
// a fault may want any row, and only plain values travel as they are packed.
func (s *session) packedSource(c *cursor) (ora.PackedSource, bool) {
	if len(s.faults) > 0 {
		return nil, false
	}
	for i := range c.columns {
		if c.columns[i].form != formCLR {
			return nil, false
		}
	}
	source, ok := c.source.(ora.PackedSource)
	return source, ok
}

// packedRows is rows for such a source. Every row is whole: to compare it with the one before would take longer
// than to send it.
func (s *session) packedRows(ctx context.Context, c *cursor, source ora.PackedSource, n int64) error {
	var rows ora.Packed
	for n > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		rows.Reset()
		got, err := source.NextPacked(ctx, &rows, int(min(n, packedBatch)))
		if err != nil {
			return err
		}
		from := 0
		for _, end := range rows.Ends {
			s.enc.u8(msgRow)
			s.enc.raw(rows.Bytes[from:end]...)
			from = end
		}
		n -= int64(got)
		c.fetched += int64(got)
		if err := s.ship(); err != nil {
			return err
		}
	}
	return nil
}
