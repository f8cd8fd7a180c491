package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// sampleClause is SAMPLE [BLOCK] (per cent) [SEED (n)].
type sampleClause struct {
	loc
	blocks        bool
	percent, seed node // a nil seed: another sample after every commit
}

func (p *parser) sample() *sampleClause {
	t := p.peek()
	if !t.isWord("SAMPLE") || !p.peekAt(1).isSymbol("(") && !p.peekAt(1).isWord("BLOCK") {
		return nil
	}
	p.i++
	s := &sampleClause{loc: loc(t.pos), blocks: p.words("BLOCK")}
	p.open()
	s.percent = p.value()
	p.close()
	if p.words("SEED") {
		p.open()
		s.seed = p.value()
		p.close()
	}
	return s
}

// sampleSource keeps the rows, or the blocks of rows, that a hash of their ROWID chooses.
type sampleSource struct {
	source
	rowid         int // where the ROWID is in a row
	blocks        bool
	percent, seed *expr
}

// sampled puts the SAMPLE clause of a table around its source.
func (c *compiler) sampled(u *unit, s *sampleClause) error {
	percent, err := c.exprAs(s.percent, classNumber)
	if err != nil {
		return err
	}
	u.tables[0].rowidUsed = true
	src := &sampleSource{source: u.src, rowid: u.tables[0].rowid, blocks: s.blocks, percent: &percent}
	if s.seed != nil {
		seed, err := c.exprAs(s.seed, classNumber)
		if err != nil {
			return err
		}
		src.seed = &seed
	}
	u.src = src
	return nil
}

func (s *sampleSource) open(x *execution, outer *frame) (rows, error) {
	in, err := s.source.open(x, outer)
	if err != nil {
		return nil, err
	}
	f := &frame{x: x, outer: outer}
	v, err := s.percent.eval(f)
	if err != nil {
		return nil, err
	}
	if len(v) == 0 {
		v = ora.EncodeInt(0)
	}
	n, err := ora.DecodeNumber(v)
	if err != nil {
		return nil, err
	}
	percent := n.Float64()
	if percent < 0.000001 || percent >= 100 {
		return nil, ora.Errorf(30562, "SAMPLE percentage must be in the range [0.000001,100)")
	}
	seed := int(x.view.SCN & 0x7FFFFFFF)
	if s.seed != nil {
		if v, err = s.seed.eval(f); err != nil {
			return nil, err
		}
		if seed, err = optionalInt([]ora.Value{v}, 0, 0); err != nil {
			return nil, err
		}
	}
	below := uint64(percent * 1e6)
	return rowsFunc(func() ([]ora.Value, error) {
		for {
			row, err := in.next()
			if err != nil {
				return nil, err
			}
			id := row[s.rowid]
			if s.blocks {
				id = id[:10]
			}
			if hash(id, uint32(seed))%100_000_000 < below {
				return row, nil
			}
		}
	}), nil
}
