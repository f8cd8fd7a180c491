package parquet

import "io"

// pool lends blocks of one size: a row group's pages take no more than they need, however they are spread over columns.
type pool struct {
	size int
	free [][]byte
}

func (p *pool) take() []byte {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, 0, p.size)
}

// blocks hold the pages of a column chunk until the row group is written.
type blocks struct {
	pool *pool
	list [][]byte
	size int64
}

func (b *blocks) write(p []byte) {
	b.size += int64(len(p))
	for len(p) > 0 {
		last := len(b.list) - 1
		if last < 0 || len(b.list[last]) == cap(b.list[last]) {
			b.list = append(b.list, b.pool.take())
			last++
		}
		block := b.list[last]
		n := min(len(p), cap(block)-len(block))
		b.list[last] = append(block, p[:n]...)
		p = p[n:]
	}
}

// drain writes everything to w and gives the blocks back.
func (b *blocks) drain(w io.Writer) error {
	for _, block := range b.list {
		if _, err := w.Write(block); err != nil {
			return err
		}
		b.pool.free = append(b.pool.free, block[:0])
	}
	clear(b.list)
	b.list, b.size = b.list[:0], 0
	return nil
}
