package sql

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// partitioning is how a table, or a partition of it, is divided. It never changes: ALTER TABLE makes another.
type partitioning struct {
	kind    string // RANGE, LIST, HASH
	columns []int
	parts   []partition
	subKind string // of the partitions of a table; "": they are not divided
	subKeys []int
}

// partition is one part. Those at the bottom have a place in the store.
type partition struct {
	name   string
	text   string      // HIGH_VALUE
	values []ora.Value // RANGE: the bound, nil is MAXVALUE; LIST: the values, empty is NULL
	other  bool        // LIST: DEFAULT
	sub    *partitioning
	leaf   int // in the store; -1: divided further
}

// route finds the partition that a row belongs in: ORA-14400 when there is none.
func (p *partitioning) route(vals []ora.Value) (*partition, error) {
	i := -1
	switch p.kind {
	case "RANGE":
		i = slices.IndexFunc(p.parts, func(q partition) bool { return p.below(vals, q.values) })
	case "LIST":
		i = p.listed(vals[p.columns[0]])
	default:
		i = p.hashed(vals)
	}
	if i < 0 {
		return nil, ora.Errorf(14400, "inserted partition key does not map to any partition")
	}
	if sub := p.parts[i].sub; sub != nil {
		return sub.route(vals)
	}
	return &p.parts[i], nil
}

// below compares a row's key with a bound; NULL comes after everything but MAXVALUE.
func (p *partitioning) below(vals, bound []ora.Value) bool {
	for k, at := range p.columns {
		v := vals[at]
		switch {
		case bound[k] == nil:
			return true
		case len(v) == 0:
			return false
		}
		if d := bytes.Compare(v, bound[k]); d != 0 {
			return d < 0
		}
	}
	return false
}

func (p *partitioning) listed(v ora.Value) int {
	for i, q := range p.parts {
		if slices.ContainsFunc(q.values, func(x ora.Value) bool { return bytes.Equal(x, v) }) {
			return i
		}
	}
	return slices.IndexFunc(p.parts, func(q partition) bool { return q.other })
}

func (p *partitioning) hashed(vals []ora.Value) int {
	h := fnv.New32a()
	for _, at := range p.columns {
		h.Write(vals[at])
		h.Write([]byte{0})
	}
	x := h.Sum32()
	return int((x ^ x>>15) % uint32(len(p.parts)))
}

// leaves are the partitions at the bottom, in order.
func (p *partitioning) leaves() []*partition {
	var list []*partition
	for i := range p.parts {
		if q := &p.parts[i]; q.sub != nil {
			list = append(list, q.sub.leaves()...)
		} else {
			list = append(list, q)
		}
	}
	return list
}

// find is the places in the store of a named partition or subpartition; ORA-02149 when there is none.
func (p *partitioning) find(ref *partitionRef) ([]int, error) {
	for i := range p.parts {
		q := &p.parts[i]
		switch {
		case !ref.sub && q.name == ref.name && q.sub == nil:
			return []int{q.leaf}, nil
		case !ref.sub && q.name == ref.name:
			return leafPlaces(q.sub.leaves()), nil
		case ref.sub && q.sub != nil:
			for _, s := range q.sub.parts {
				if s.name == ref.name {
					return []int{s.leaf}, nil
				}
			}
		}
	}
	if ref.sub {
		return nil, errAt(ref.at(), 14251, "Specified subpartition does not exist")
	}
	return nil, errAt(ref.at(), 2149, "Specified partition does not exist")
}

func leafPlaces(list []*partition) []int {
	var at []int
	for _, q := range list {
		at = append(at, q.leaf)
	}
	return at
}

// partMaker makes the partitions of a table.
type partMaker struct {
	c      *compiler
	object *object
	leaves int // places in the store given out
	named  int // last number of a SYS_P name
}

// table makes the division of a table and of its partitions.
func (m *partMaker) table(by *partitionBy) (*partitioning, error) {
	p, err := m.divide(by, by.parts, by.count)
	if err != nil || by.sub == nil {
		return p, err
	}
	if by.sub.sub != nil {
		return nil, errAt(by.sub.at(), 922, "missing or invalid option")
	}
	p.subKind = by.sub.kind
	if p.subKeys, err = m.object.positions(by.sub.columns, by.sub.at()); err != nil {
		return nil, err
	}
	m.leaves = 0
	for i := range p.parts {
		if err := m.subdivide(&p.parts[i], by, i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (m *partMaker) subdivide(q *partition, by *partitionBy, i int) error {
	defs, count := by.sub.parts, max(by.sub.count, 1)
	own := i < len(by.parts) && len(by.parts[i].subs) > 0
	switch {
	case own:
		defs = by.parts[i].subs
	case i < len(by.parts) && by.parts[i].count > 0:
		count = by.parts[i].count
	}
	sub, err := m.divide(by.sub, defs, count)
	if err != nil {
		return err
	}
	if len(defs) > 0 && !own { // a template: names are made of both
		for k := range sub.parts {
			sub.parts[k].name = q.name + "_" + sub.parts[k].name
		}
	}
	q.leaf, q.sub = -1, sub
	return nil
}

// divide makes one level of partitions.
func (m *partMaker) divide(by *partitionBy, defs []partitionDef, count int) (*partitioning, error) {
	columns, err := m.object.positions(by.columns, by.at())
	if err != nil {
		return nil, err
	}
	if by.kind == "LIST" && len(columns) > 1 {
		return nil, errAt(by.at(), 3001, "unimplemented feature: LIST partitioning by several columns")
	}
	p := &partitioning{kind: by.kind, columns: columns}
	if len(defs) == 0 {
		if by.kind == "LIST" || by.kind == "RANGE" { // a subpartition without a template takes everything
			defs = []partitionDef{{loc: by.loc, other: by.kind == "LIST", values: make([]node, len(columns))}}
		} else {
			defs = make([]partitionDef, count)
		}
	}
	for _, d := range defs {
		if err := m.add(p, d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add appends a partition.
func (m *partMaker) add(p *partitioning, d partitionDef) error {
	q := partition{name: d.name, other: d.other, leaf: m.leaves}
	m.leaves++
	if q.name == "" {
		m.named++
		q.name = fmt.Sprintf("SYS_P%d", 1000+m.named)
	}
	if slices.ContainsFunc(p.parts, func(o partition) bool { return o.name == q.name }) {
		return errAt(d.at(), 14013, "duplicate partition name")
	}
	if p.kind == "RANGE" && len(d.values) != len(p.columns) {
		return errAt(d.at(), 14308, "partition bound element must be one of: string, datetime or interval literal, number, or NULL")
	}
	var texts []string
	for i, n := range d.values {
		v, text, err := m.value(p, i, n)
		if err != nil {
			return err
		}
		q.values, texts = append(q.values, v), append(texts, text)
	}
	if q.other {
		texts = append(texts, "DEFAULT")
	}
	q.text = strings.Join(texts, ", ")
	if n := len(p.parts); p.kind == "RANGE" && n > 0 && !ascending(p.parts[n-1].values, q.values) {
		return errAt(d.at(), 14037, "partition bound of partition %q is too high", p.parts[n-1].name)
	}
	p.parts = append(p.parts, q)
	return nil
}

func ascending(a, b []ora.Value) bool {
	for i := range a {
		switch {
		case a[i] == nil:
			return false
		case b[i] == nil:
			return true
		}
		if d := bytes.Compare(a[i], b[i]); d != 0 {
			return d < 0
		}
	}
	return false
}

// value is one bound in the encoding of its column, and as HIGH_VALUE shows it.
func (m *partMaker) value(p *partitioning, i int, n node) (ora.Value, string, error) {
	if n == nil {
		return nil, "MAXVALUE", nil
	}
	col := m.object.columns[p.columns[min(i, len(p.columns)-1)]]
	e, err := m.c.expr(n)
	if err != nil {
		return nil, "", err
	}
	if e, err = e.cast(col.typ, "", n.at()); err != nil {
		return nil, "", err
	}
	st := &Statement{ses: m.c.ses}
	v, err := e.eval(&frame{x: st.execution(context.Background(), nil)})
	if err != nil {
		return nil, "", err
	}
	if len(v) == 0 {
		return ora.Value{}, "NULL", nil
	}
	return v, boundText(col.typ, v), nil
}

// boundText is a partition's bound as the dictionary shows it.
func boundText(t ora.Type, v ora.Value) string {
	text := ora.Text(t, v)
	switch classOf(t) {
	case classDate:
		return "TO_DATE(' " + text + "', 'SYYYY-MM-DD HH24:MI:SS', 'NLS_CALENDAR=GREGORIAN')"
	case classTimestamp, classLTZ, classTZ:
		return "TIMESTAMP' " + text + "'"
	case classText:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case classRaw:
		return "HEXTORAW('" + text + "')"
	}
	return text
}

// routed is the place in the store for a row of the table.
func (o *object) routed(vals []ora.Value) (int, error) {
	if o.parts == nil {
		return 0, nil
	}
	q, err := o.parts.route(vals)
	if err != nil {
		return 0, err
	}
	return q.leaf, nil
}

// stays refuses an update that would move a row to another partition, since tables are made without row
// movement.
func (o *object) stays(before, after []ora.Value) error {
	if o.parts == nil {
		return nil
	}
	a, err := o.routed(before)
	if err != nil {
		return err
	}
	b, err := o.routed(after)
	if err == nil && a != b && !o.rowMovement {
		return ora.Errorf(14402, "updating partition key column would cause a partition change")
	}
	return err
}

// alterPartition truncates, drops, adds or exchanges a partition.
func (s *Session) alterPartition(c *catalog, a *alterPartition) error {
	old, err := s.existing(c, a.table, "ALTER ANY TABLE")
	if err != nil {
		return err
	}
	if old.kind != kindTable || old.parts == nil {
		return errAt(a.table.at(), 14501, "object is not partitioned")
	}
	o := *old
	o.changed = s.db.cfg.Now()
	if a.verb == "ADD" {
		return s.addPartition(c, &o, a)
	}
	leaves, err := o.parts.find(&a.ref)
	if err != nil {
		return err
	}
	if a.verb == "EXCHANGE" {
		if err := s.exchange(c, &o, a, leaves); err != nil {
			return err
		}
		c.objects[o.objectName] = &o
		return nil
	}
	for _, leaf := range leaves {
		if err := s.db.store.TruncatePart(o.table, leaf); err != nil {
			return err
		}
	}
	if a.verb == "DROP" {
		if a.ref.sub {
			return errAt(a.ref.at(), 3001, "unimplemented feature: DROP SUBPARTITION")
		}
		if len(o.parts.parts) == 1 {
			return ora.Errorf(14083, "cannot drop the only partition of a partitioned table")
		}
		p := *o.parts
		p.parts = slices.DeleteFunc(slices.Clone(p.parts), func(q partition) bool { return q.name == a.ref.name })
		o.parts = &p
	}
	c.objects[o.objectName] = &o
	return nil
}

func (s *Session) addPartition(c *catalog, o *object, a *alterPartition) error {
	if o.parts.kind == "HASH" || o.parts.subKind != "" {
		return errAt(a.table.at(), 3001, "unimplemented feature: ADD PARTITION to a HASH or composite table")
	}
	p := *o.parts
	p.parts = slices.Clone(p.parts)
	m := &partMaker{c: &compiler{db: s.db, cat: c, ses: s, user: s.user, schema: s.schema}, object: o, leaves: o.table.Parts()}
	if err := m.add(&p, a.def); err != nil {
		return err
	}
	o.parts = &p
	c.objects[o.objectName] = o
	return s.db.store.AddPart(o.table)
}

// exchange swaps a partition with a table of the same columns.
func (s *Session) exchange(c *catalog, o *object, a *alterPartition, leaves []int) error {
	with, err := s.existing(c, a.with, "ALTER ANY TABLE")
	if err != nil {
		return err
	}
	same := slices.EqualFunc(o.columns, with.columns, func(x, y column) bool { return x.typ == y.typ })
	switch {
	case with.kind != kindTable || with.parts != nil || with.made != nil || len(leaves) != 1:
		return errAt(a.with.at(), 14095, "ALTER TABLE EXCHANGE requires a non-partitioned, non-clustered table")
	case !same:
		return errAt(a.with.at(), 14097, "column type or size mismatch in ALTER TABLE EXCHANGE PARTITION")
	}
	return s.db.store.ExchangePart(o.table, leaves[0], with.table)
}
