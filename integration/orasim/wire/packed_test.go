package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// tenSource is the rows of a generator table, one by one or packed.
type tenSource struct {
	t       *generate.Table
	p       *generate.Packer
	at, end int64
}

func newTenSource(tb testing.TB, rows int64) *tenSource {
	tb.Helper()
	t, err := generate.Ten(rows, 1)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := t.Pack([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err != nil {
		tb.Fatal(err)
	}
	return &tenSource{t: t, p: p, end: rows}
}

func (s *tenSource) Next(context.Context) ([]ora.Value, error) {
	if s.at >= s.end {
		return nil, io.EOF
	}
	row, _ := s.t.Row(s.at, nil, nil)
	s.at++
	return row, nil
}

func (s *tenSource) NextPacked(_ context.Context, dst *ora.Packed, n int) (int, error) {
	if s.at >= s.end {
		return 0, io.EOF
	}
	got := min(int64(n), s.end-s.at)
	for range got {
		s.p.Append(dst, s.at)
		s.at++
	}
	return int(got), nil
}

func (s *tenSource) Close() {}

// feed sends n rows of a source to a client that only reads, and returns what it read.
func feed(tb testing.TB, source ora.RowSource, columns []ora.Column, n int64, to io.Writer) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	read := make(chan error, 1)
	go func() {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_, err = io.CopyBuffer(to, nc, make([]byte, 1<<20))
			nc.Close()
		}
		read <- err
	}()
	nc, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	s := newSession(&Config{MaxCursors: 1}, newConn(nc), nil, ora.Login{}, nil)
	s.conn.sdu, s.conn.wide = 1<<20, true
	c := &cursor{source: source, plain: true}
	for _, col := range columns {
		c.columns = append(c.columns, column{Column: col})
	}
	if err := s.rows(context.Background(), c, n, headerFetch); err != nil && !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
	if err := s.flush(); err != nil {
		tb.Fatal(err)
	}
	nc.Close()
	if err := <-read; err != nil {
		tb.Fatal(err)
	}
}

// plainSource hides that rows can be had packed.
type plainSource struct{ *tenSource }

func (plainSource) NextPacked() {}

func TestPackedRowsLookLikeOthers(t *testing.T) {
	var packed, plain bytes.Buffer
	a, b := newTenSource(t, 1000), newTenSource(t, 1000)
	feed(t, a, a.t.Columns(), 700, &packed)
	feed(t, plainSource{b}, b.t.Columns(), 700, &plain)
	if a.at != 700 || packed.Len() < 20_000 || !bytes.Equal(packed.Bytes(), plain.Bytes()) {
		t.Errorf("%d rows in %d bytes packed, %d bytes row by row", a.at, packed.Len(), plain.Len())
	}
}

// BenchmarkFeed is how fast one session gives rows of ten columns to a client that does nothing with them.
func BenchmarkFeed(b *testing.B) {
	for _, packed := range []bool{true, false} {
		b.Run(map[bool]string{true: "packed", false: "plain"}[packed], func(b *testing.B) {
			const rows = 1_000_000
			source := newTenSource(b, rows)
			for b.Loop() {
				source.at = 0
				if packed {
					feed(b, source, source.t.Columns(), rows, io.Discard)
				} else {
					feed(b, plainSource{source}, source.t.Columns(), rows, io.Discard)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
