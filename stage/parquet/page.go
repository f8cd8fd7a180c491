package parquet

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
)

// zstdWindow is enough for pages of common size and keeps the encoder small; larger pages only compress less well.
const zstdWindow = 256 << 10

// pager compresses pages and puts headers before them. All columns of a file share one, and its buffers.
type pager struct {
	codec  Codec
	zstd   *zstd.Encoder
	keep   int // greatest buffer that is kept from page to page
	packed []byte
	levels []byte
	head   bytes.Buffer
	thrift *thrift.Encoder

	raw, out int64 // bytes of all pages before and after compression
}

func newPager(codec Codec, page int) (*pager, error) {
	p := &pager{codec: codec, keep: 8 * page}
	p.thrift = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&p.head))
	switch codec {
	case Snappy:
	case Zstd:
		var err error
		p.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, fmt.Errorf("set up zstd: %w", err)
		}
	default:
		return nil, fmt.Errorf("codec %d: unknown", codec)
	}
	return p, nil
}

// format is the codec's name in the file.
func (c Codec) format() format.CompressionCodec {
	if c == Zstd {
		return format.Zstd
	}
	return format.Snappy
}

// add compresses a page and appends it to dst. It fills in the header's sizes and checksum, and returns how many bytes
// header and page would be without compression.
func (p *pager) add(dst *blocks, h *format.PageHeader, page []byte) (raw int64, err error) {
	if len(page) > math.MaxInt32 || s2.MaxEncodedLen(len(page)) > math.MaxInt32 {
		return 0, fmt.Errorf("a page of %d bytes is more than the format holds: %w", len(page), extract.ErrValue)
	}
	packed := p.pack(page)
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(page)), int32(len(packed))
	h.CRC = int32(crc32.ChecksumIEEE(packed))
	p.head.Reset()
	if err := p.thrift.Encode(h); err != nil {
		return 0, fmt.Errorf("encode page header: %w", err)
	}
	dst.write(p.head.Bytes())
	dst.write(packed)
	p.raw += int64(len(page))
	p.out += int64(len(packed))
	return int64(p.head.Len() + len(page)), nil
}

func (p *pager) pack(page []byte) []byte {
	if cap(p.packed) > p.keep {
		p.packed = nil
	}
	if p.codec == Zstd {
		p.packed = p.zstd.EncodeAll(page, p.packed[:0])
	} else {
		p.packed = s2.EncodeSnappy(p.packed[:cap(p.packed)], page)
	}
	return p.packed
}

// estimate is what so many bytes of values will be in the file, by what has been seen of it.
func (p *pager) estimate(raw int64) int64 {
	if p.raw == 0 {
		return raw
	}
	return int64(float64(raw) * float64(p.out) / float64(p.raw))
}
