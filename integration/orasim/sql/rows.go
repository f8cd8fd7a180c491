package sql

import (
	"errors"
	"io"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// rows yields rows until io.EOF. Rows of a source are never changed afterwards and may be kept; those of a plan
// opened for reuse are valid until the next call.
type rows interface {
	next() ([]ora.Value, error)
}

// source is something in FROM: it can be read any number of times.
type source interface {
	open(x *execution, outer *frame) (rows, error)
}

// listRows yields rows that are in memory.
type listRows struct{ list [][]ora.Value }

func (r *listRows) next() ([]ora.Value, error) {
	if len(r.list) == 0 {
		return nil, io.EOF
	}
	row := r.list[0]
	r.list = r.list[1:]
	return row, nil
}

// collect reads rows to their end.
func collect(r rows) ([][]ora.Value, error) {
	var list [][]ora.Value
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
}

// filterSource keeps the rows for which every condition is true.
type filterSource struct {
	source
	conds []condition
}

func (s *filterSource) open(x *execution, outer *frame) (rows, error) {
	in, err := s.source.open(x, outer)
	if err != nil {
		return nil, err
	}
	return &filterRows{in: in, conds: s.conds, f: frame{x: x, outer: outer}}, nil
}

type filterRows struct {
	in    rows
	conds []condition
	f     frame
}

func (r *filterRows) next() ([]ora.Value, error) {
	for {
		row, err := r.in.next()
		if err != nil {
			return nil, err
		}
		r.f.row = row
		ok, err := allTrue(r.conds, &r.f)
		if err != nil {
			return nil, err
		}
		if ok {
			return row, nil
		}
	}
}

func allTrue(conds []condition, f *frame) (bool, error) {
	for _, c := range conds {
		t, err := c(f)
		if err != nil || t != isTrue {
			return false, err
		}
	}
	return true, nil
}

// joinSource joins two sources: by hash on the keys, if there are any, then by the conditions on the joined row.
type joinSource struct {
	l, r         source
	rightWidth   int
	left         bool // LEFT OUTER
	lkeys, rkeys []joinKey
	on           []condition
}

// joinKey is one side of an equality.
type joinKey struct {
	x    expr
	trim bool // CHAR against CHAR: blanks at the end do not count
	zone bool // TIMESTAMP WITH TIME ZONE: only the instant counts
}

func (s *joinSource) open(x *execution, outer *frame) (rows, error) {
	l, err := s.l.open(x, outer)
	if err != nil {
		return nil, err
	}
	return &joinRows{s: s, in: l, f: frame{x: x, outer: outer}}, nil
}

type joinRows struct {
	s      *joinSource
	in     rows
	f      frame
	built  bool
	right  [][]ora.Value            // without keys: all
	byKey  map[string][][]ora.Value // with keys
	left   []ora.Value
	todo   [][]ora.Value
	hit    bool
	keyBuf []byte
}

func (r *joinRows) next() ([]ora.Value, error) {
	if !r.built {
		if err := r.build(); err != nil {
			return nil, err
		}
	}
	for {
		if len(r.todo) > 0 {
			if err := r.f.x.tick(); err != nil {
				return nil, err
			}
			row := join(r.left, r.todo[0], r.s.rightWidth)
			r.todo = r.todo[1:]
			r.f.row = row
			ok, err := allTrue(r.s.on, &r.f)
			if err != nil {
				return nil, err
			}
			if ok {
				r.hit = true
				return row, nil
			}
			continue
		}
		if r.left != nil && r.s.left && !r.hit {
			row := join(r.left, nil, r.s.rightWidth)
			r.left = nil
			return row, nil
		}
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
}

// advance takes the next row of the left side and finds those that may match it.
func (r *joinRows) advance() error {
	row, err := r.in.next()
	if err != nil {
		return err
	}
	if err := r.f.x.tick(); err != nil {
		return err
	}
	r.left, r.hit, r.todo = row, false, r.right
	if r.byKey != nil {
		r.f.row = row
		key, ok, err := r.key(r.s.lkeys)
		if err != nil {
			return err
		}
		r.todo = nil
		if ok {
			r.todo = r.byKey[key]
		}
	}
	return nil
}

// build reads the right side.
func (r *joinRows) build() error {
	r.built = true
	in, err := r.s.r.open(r.f.x, r.f.outer)
	if err != nil {
		return err
	}
	all, err := collect(in)
	if err != nil {
		return err
	}
	if len(r.s.rkeys) == 0 {
		r.right = all
		return nil
	}
	r.byKey = make(map[string][][]ora.Value, len(all))
	for _, row := range all {
		r.f.row = row
		key, ok, err := r.key(r.s.rkeys)
		if err != nil {
			return err
		}
		if ok {
			r.byKey[key] = append(r.byKey[key], row)
		}
	}
	return nil
}

// key is the values of the keys of the row in the frame; ok is false when one is NULL.
func (r *joinRows) key(keys []joinKey) (key string, ok bool, err error) {
	r.keyBuf = r.keyBuf[:0]
	for i := range keys {
		v, err := keys[i].x.eval(&r.f)
		if err != nil || len(v) == 0 {
			return "", false, err
		}
		if keys[i].zone {
			v = v[:min(len(v), 11)]
		}
		for keys[i].trim && len(v) > 0 && v[len(v)-1] == ' ' {
			v = v[:len(v)-1]
		}
		r.keyBuf = appendKey(r.keyBuf, v)
	}
	return string(r.keyBuf), true, nil
}

// appendKey adds a value to a composite key, so that no two different lists of values make the same key.
func appendKey(b []byte, v ora.Value) []byte {
	n := len(v)
	b = append(b, byte(n>>16), byte(n>>8), byte(n))
	return append(b, v...)
}

func join(l, r []ora.Value, rightWidth int) []ora.Value {
	row := make([]ora.Value, len(l)+rightWidth)
	copy(row, l)
	copy(row[len(l):], r)
	return row
}
