package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// tableSource reads a table at the statement's SCN or at the one of its AS OF clause.
type tableSource struct {
	table     *store.Table
	columns   int
	withRowid bool
	asOf      *expr // an SCN or a time, evaluated when the table is opened
	timestamp bool
	bounds    []bound // what is known of the wanted rows
	only      []int   // places of the partitions to read; nil: all
}

func (s *tableSource) narrow(bounds []bound) (exact bool) {
	s.bounds = append(s.bounds, bounds...)
	return false
}

func (s *tableSource) open(x *execution, outer *frame) (rows, error) {
	cur, err := s.scan(x, outer)
	if err != nil {
		return nil, err
	}
	wanted, none, err := limits(s.bounds, x, outer)
	if err != nil {
		return nil, err
	}
	if none {
		return &listRows{}, nil
	}
	if s.only != nil {
		cur.Only(s.only)
	}
	cur.Narrow(wanted)
	return &tableRows{s: s, x: x, cur: cur}, nil
}

func (s *tableSource) scan(x *execution, outer *frame) (*store.Cursor, error) {
	if s.asOf == nil {
		return s.table.Scan(x.view), nil
	}
	scn, err := s.scn(x, outer)
	if err != nil {
		return nil, err
	}
	return s.table.ScanAsOf(scn)
}

func (s *tableSource) scn(x *execution, outer *frame) (uint64, error) {
	v, err := s.asOf.eval(&frame{x: x, outer: outer})
	if err != nil {
		return 0, err
	}
	if !s.timestamp {
		return scnValue(v)
	}
	if len(v) == 0 {
		return 0, ora.Errorf(8186, "invalid timestamp specified")
	}
	t, err := ora.DecodeTime(v)
	if err != nil {
		return 0, err
	}
	return x.ses.db.scnAt(t)
}

type tableRows struct {
	s   *tableSource
	x   *execution
	cur *store.Cursor
}

func (r *tableRows) next() ([]ora.Value, error) {
	if err := r.x.tick(); err != nil {
		return nil, err
	}
	slot, vals, err := r.cur.Next()
	if err != nil {
		return nil, err
	}
	vals = vals[:r.s.columns]
	if r.s.withRowid {
		vals = append(vals[:r.s.columns:r.s.columns], r.cur.RowID(slot).Encode())
	}
	return vals, nil
}

// virtualSource reads rows that are made when it is opened: a dictionary view.
type virtualSource struct{ view *dictView }

func (s *virtualSource) open(x *execution, _ *frame) (rows, error) {
	return &listRows{s.view.read(x.ses)}, nil
}

// externalSource is an external table, whose file is never there.
type externalSource struct{}

func (externalSource) open(*execution, *frame) (rows, error) {
	return nil, ora.Errorf(29913, "error in executing ODCIEXTTABLEOPEN callout")
}

// planSource is a query in FROM.
type planSource struct{ plan *subplan }

func (s *planSource) open(x *execution, outer *frame) (rows, error) {
	return s.plan.open(x, outer, false)
}
