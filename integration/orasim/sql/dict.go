package sql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// dictView is a virtual table: a dictionary or V$ view.
type dictView struct {
	columns    []ora.Column
	restricted bool // needs SELECT ANY DICTIONARY or a grant
	rows       func(q *dictQuery)
}

// dictQuery collects the rows of one reading of a view.
type dictQuery struct {
	ses     *Session
	cat     *catalog
	columns []ora.Column
	omit    bool // USER_ view: the first value, the owner, is left out
	reach   reach
	list    [][]ora.Value
}

// reach is which objects a view shows.
type reach uint8

const (
	reachAll  reach = iota // ALL_: what the user may use
	reachUser              // USER_: the user's own
	reachDBA               // DBA_: everything
)

// read makes the rows of a view as the session sees them now.
func (v *dictView) read(s *Session) [][]ora.Value {
	q := &dictQuery{ses: s, cat: s.db.catalog(), columns: v.columns}
	v.rows(q)
	return q.list
}

// add appends a row: strings, ints, times (as DATE) and nil for NULL, one for each column.
func (q *dictQuery) add(vals ...any) {
	if q.omit {
		vals = vals[1:]
	}
	if len(vals) != len(q.columns) {
		panic(fmt.Sprintf("dictionary row has %d values for %d columns, the first %q", len(vals), len(q.columns), q.columns[0].Name))
	}
	row := make([]ora.Value, len(vals))
	for i, v := range vals {
		switch v := v.(type) {
		case string:
			row[i] = ora.Value(v)
		case int:
			row[i] = ora.EncodeInt(int64(v))
		case uint64:
			row[i] = ora.EncodeInt(int64(v))
		case time.Time:
			w := q.ses.db.wall(v).wall
			w.Nano = 0
			row[i] = w.EncodeDate()
		case nil:
		default:
			panic(fmt.Sprintf("dictionary value of type %T", v))
		}
	}
	q.list = append(q.list, row)
}

// objects returns the objects of some kinds within reach, in order of owner and name.
func (q *dictQuery) objects(kinds ...objectKind) []*object {
	var list []*object
	for n, o := range q.cat.objects {
		if !slices.Contains(kinds, o.kind) {
			continue
		}
		switch q.reach {
		case reachUser:
			if n.owner != q.ses.user {
				continue
			}
		case reachAll:
			if !q.visible(o) {
				continue
			}
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object) int {
		if c := strings.Compare(a.owner, b.owner); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return list
}

// visible says whether an ALL_ view shows an object.
func (q *dictQuery) visible(o *object) bool {
	switch o.kind {
	case kindIndex:
		return q.cat.sees(q.ses.user, o.target)
	case kindSynonym:
		return o.owner == public || o.owner == q.ses.user || q.cat.sees(q.ses.user, o.target)
	}
	return q.cat.sees(q.ses.user, o.objectName)
}

// columnsOf reads a list such as "OWNER NAME:30 ID#n CREATED#d": text of 128 or so many bytes, numbers (ID##n is a
// number named ID#), dates.
func columnsOf(spec string) []ora.Column {
	var list []ora.Column
	for _, word := range strings.Fields(spec) {
		c := ora.Column{Name: word, Type: textType(128), Nullable: true}
		if name, ok := strings.CutSuffix(word, "#n"); ok {
			c.Name, c.Type = name, numberType()
		} else if name, ok := strings.CutSuffix(word, "#d"); ok {
			c.Name, c.Type = name, dateType()
		} else if name, width, ok := strings.Cut(word, ":"); ok {
			n, err := strconv.Atoi(width)
			if err != nil {
				panic(fmt.Sprintf("dictionary column %q", word))
			}
			c.Name, c.Type = name, textType(uint32(n))
		}
		list = append(list, c)
	}
	return list
}

// view is a view without an owner column.
func view(spec string, rows func(q *dictQuery)) *dictView {
	return &dictView{columns: columnsOf(spec), rows: rows}
}

// restrictedView is one that needs SELECT ANY DICTIONARY or a grant.
func restrictedView(spec string, rows func(q *dictQuery)) *dictView {
	v := view(spec, rows)
	v.restricted = true
	return v
}

// family adds ALL_, DBA_ and USER_ views with the same columns, the first of which is the owner. USER_ views
// leave it out unless keepOwner is set, as Oracle does for most.
func family(all map[string]*dictView, name, spec string, keepOwner bool, rows func(q *dictQuery)) {
	columns := columnsOf(spec)
	for prefix, r := range map[string]reach{"ALL_": reachAll, "DBA_": reachDBA, "USER_": reachUser} {
		omit := r == reachUser && !keepOwner
		v := &dictView{columns: columns, restricted: r == reachDBA}
		if omit {
			v.columns = columns[1:]
		}
		v.rows = func(q *dictQuery) {
			q.reach, q.omit = r, omit
			rows(q)
		}
		all[prefix+name] = v
	}
}

// dictionaryViews lists every view.
func dictionaryViews(d *Database) map[string]*dictView {
	all := map[string]*dictView{
		"DUAL": {columns: columnsOf("DUMMY:1"), rows: func(q *dictQuery) { q.add("X") }},
	}
	objectViews(all)
	columnViews(all)
	partitionViews(all)
	keyViews(all)
	privilegeViews(all)
	instanceViews(all, d)
	return all
}
