package sql

import (
	"errors"
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// windowCall is an analytic function: a call and its OVER clause.
type windowCall struct {
	loc
	call      *call
	partition []node
	order     []orderItem
	extent    extent
}

// extent is which rows of its partition a window function sees from a row.
type extent uint8

const (
	extentPeers extent = iota // from the first to the last that sorts equal; all without ORDER BY: Oracle's default
	extentRows                // from the first to the row itself
	extentAll
)

// over reads the OVER clause of a call.
func (p *parser) over(n *call) node {
	w := &windowCall{loc: n.loc, call: n}
	p.open()
	if p.words("PARTITION", "BY") {
		w.partition = p.arguments()
	}
	if p.words("ORDER", "BY") {
		w.order = append(w.order, p.orderItem())
		for p.symbol(",") {
			w.order = append(w.order, p.orderItem())
		}
	}
	rows := p.words("ROWS")
	if rows || p.words("RANGE") {
		w.extent = p.extent(rows)
	}
	p.close()
	return w
}

func (p *parser) extent(rows bool) extent {
	between := p.words("BETWEEN")
	if !p.words("UNBOUNDED", "PRECEDING") {
		p.notYet("window from " + p.peek().text)
	}
	switch {
	case !between, p.words("AND", "CURRENT", "ROW"):
		if rows {
			return extentRows
		}
		return extentPeers
	case !p.words("AND", "UNBOUNDED", "FOLLOWING"):
		p.notYet("window to " + p.peekAt(1).text)
	}
	return extentAll
}

// window is a compiled analytic function.
type window struct {
	name      string
	partition []expr
	order     []orderKey
	extent    extent
	agg       *aggregate // COUNT, SUM, AVG, MIN, MAX
	args      []expr     // the others
}

// window compiles an analytic function, whose values come with the row at hand once all rows are known.
func (c *compiler) window(n *windowCall) (expr, error) {
	if c.scope == nil || c.scope.windows == nil || c.noWindows {
		return expr{}, errAt(n.at(), 30483, "window  functions are not allowed here")
	}
	c.noWindows = true
	defer func() { c.noWindows = false }()
	w := &window{name: n.call.name, extent: n.extent}
	if len(n.order) == 0 {
		w.extent = extentAll
	}
	for _, x := range n.partition {
		e, err := c.expr(x)
		if err != nil {
			return expr{}, err
		}
		if err := groupable(e.typ, x.at()); err != nil {
			return expr{}, err
		}
		w.partition = append(w.partition, e)
	}
	for _, o := range n.order {
		e, err := c.expr(o.x)
		if err != nil {
			return expr{}, err
		}
		k, err := newOrderKey(e, o)
		if err != nil {
			return expr{}, err
		}
		w.order = append(w.order, k)
	}
	typ, err := c.windowFunction(w, n)
	if err != nil {
		return expr{}, err
	}
	at := len(c.scope.windows.list)
	c.scope.windows.list = append(c.scope.windows.list, w)
	return expr{typ: typ, nullable: true, eval: func(f *frame) (ora.Value, error) { return f.windows[at], nil }}, nil
}

// windowFunction compiles the function itself and says its type.
func (c *compiler) windowFunction(w *window, n *windowCall) (ora.Type, error) {
	if aggregateName(w.name) {
		return c.windowAggregate(w, n.call)
	}
	low, high := 0, 0
	switch w.name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK":
	case "NTILE", "FIRST_VALUE", "LAST_VALUE":
		low, high = 1, 1
	case "LAG", "LEAD":
		low, high = 1, 3
	default:
		return ora.Type{}, errAt(n.at(), 439, "feature is not enabled: analytic function %s", w.name)
	}
	if len(n.call.args) < low || len(n.call.args) > high {
		return ora.Type{}, errAt(n.at(), 909, "invalid number of arguments")
	}
	if len(n.order) == 0 && w.name != "FIRST_VALUE" && w.name != "LAST_VALUE" {
		return ora.Type{}, errAt(n.at(), 30485, "missing ORDER BY expression in the window specification")
	}
	args, err := c.exprs(n.call.args)
	if err != nil {
		return ora.Type{}, err
	}
	w.args = args
	switch w.name {
	case "FIRST_VALUE", "LAST_VALUE":
		return args[0].typ, nil
	case "LAG", "LEAD":
		if len(args) == 3 {
			list := []expr{args[0], args[2]}
			typ, err := follow(list, []node{n.call.args[0], n.call.args[2]})
			args[0], args[2] = list[0], list[1]
			return typ, err
		}
		return args[0].typ, nil
	}
	return numberType(), nil
}

func (c *compiler) windowAggregate(w *window, n *call) (ora.Type, error) {
	w.agg = &aggregate{name: n.name, star: n.star, distinct: n.distinct, typ: numberType()}
	if n.star && n.name == "COUNT" {
		return w.agg.typ, nil
	}
	if n.star || len(n.args) != 1 {
		return ora.Type{}, errAt(n.at(), 909, "invalid number of arguments")
	}
	x, err := c.expr(n.args[0])
	if err != nil {
		return ora.Type{}, err
	}
	err = w.agg.take(x, n)
	return w.agg.typ, err
}

// windowPlan is the analytic functions of a block.
type windowPlan struct{ list []*window }

// windowRows reads all rows, computes the functions, and yields the rows with their values in the frame.
type windowRows struct {
	p    *windowPlan
	in   rows
	f    *frame
	all  []windowRow
	read bool
	at   int
}

type windowRow struct {
	row           []ora.Value
	rownum, level int64
	values        []ora.Value
}

func (r *windowRows) next() ([]ora.Value, error) {
	if !r.read {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	if r.at >= len(r.all) {
		return nil, io.EOF
	}
	r.show(r.at)
	r.f.windows = r.all[r.at].values
	r.at++
	return r.f.row, nil
}

// show puts a row into the frame.
func (r *windowRows) show(i int) {
	w := &r.all[i]
	r.f.row, r.f.rownum, r.f.level = w.row, w.rownum, w.level
}

func (r *windowRows) fill() error {
	r.read = true
	for {
		row, err := r.in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.all = append(r.all, windowRow{row, r.f.rownum, r.f.level, make([]ora.Value, len(r.p.list))})
	}
	for i, w := range r.p.list {
		if err := r.compute(i, w); err != nil {
			return err
		}
	}
	return nil
}

// compute is one function over all its partitions.
func (r *windowRows) compute(at int, w *window) error {
	keys := make([][]ora.Value, len(r.all))
	parts := map[string][]int{}
	var order []string
	var buf []byte
	for i := range r.all {
		r.show(i)
		buf = buf[:0]
		for k := range w.partition {
			v, err := w.partition[k].eval(r.f)
			if err != nil {
				return err
			}
			buf = appendKey(buf, v)
		}
		keys[i] = make([]ora.Value, len(w.order))
		for k := range w.order {
			v, err := w.order[k].x.eval(r.f)
			if err != nil {
				return err
			}
			keys[i][k] = v
		}
		if _, seen := parts[string(buf)]; !seen {
			order = append(order, string(buf))
		}
		parts[string(buf)] = append(parts[string(buf)], i)
	}
	for _, name := range order {
		part := windowPart{r: r, w: w, at: at, rows: parts[name], keys: keys}
		slices.SortStableFunc(part.rows, func(a, b int) int { return compareKeys(w.order, keys[a], keys[b]) })
		if err := part.compute(); err != nil {
			return err
		}
	}
	return nil
}

// windowPart is the rows that one window function looks at together, in its order.
type windowPart struct {
	r    *windowRows
	w    *window
	at   int // of the function among those of the block
	rows []int
	keys [][]ora.Value
}

func (p *windowPart) set(i int, v ora.Value) { p.r.all[p.rows[i]].values[p.at] = v }

// peersEnd is the end of the rows that sort as row i does.
func (p *windowPart) peersEnd(i int) int {
	end := i + 1
	for end < len(p.rows) && compareKeys(p.w.order, p.keys[p.rows[i]], p.keys[p.rows[end]]) == 0 {
		end++
	}
	return end
}

// extentEnd is the end of the rows that the function sees from row i.
func (p *windowPart) extentEnd(i int) int {
	switch p.w.extent {
	case extentAll:
		return len(p.rows)
	case extentRows:
		return i + 1
	}
	return p.peersEnd(i)
}

func (p *windowPart) compute() error {
	switch p.w.name {
	case "ROW_NUMBER":
		for i := range p.rows {
			p.set(i, ora.EncodeInt(int64(i)+1))
		}
		return nil
	case "RANK", "DENSE_RANK":
		p.rank(p.w.name == "DENSE_RANK")
		return nil
	case "NTILE":
		return p.tiles()
	case "LAG", "LEAD":
		return p.neighbours(p.w.name == "LAG")
	case "FIRST_VALUE", "LAST_VALUE":
		return p.ends(p.w.name == "FIRST_VALUE")
	}
	return p.aggregate()
}

func (p *windowPart) rank(dense bool) {
	rank := int64(0)
	for i := 0; i < len(p.rows); {
		end := p.peersEnd(i)
		if rank++; !dense {
			rank = int64(i) + 1
		}
		for ; i < end; i++ {
			p.set(i, ora.EncodeInt(rank))
		}
	}
}

// tiles deals the rows into buckets whose sizes differ by one at most, the larger ones first.
func (p *windowPart) tiles() error {
	p.r.show(p.rows[0])
	v, err := p.w.args[0].eval(p.r.f)
	if err != nil {
		return err
	}
	n, err := optionalInt([]ora.Value{v}, 0, 0)
	if err != nil || n < 1 {
		return errors.Join(err, ora.Errorf(30494, "The argument [%d] of NTILE function is NULL or invalid.", n))
	}
	size, larger := len(p.rows)/n, len(p.rows)%n
	for i := range p.rows {
		bucket := i / (size + 1)
		if i >= larger*(size+1) {
			bucket = larger + (i-larger*(size+1))/max(size, 1)
		}
		p.set(i, ora.EncodeInt(int64(bucket)+1))
	}
	return nil
}

func (p *windowPart) neighbours(before bool) error {
	for i := range p.rows {
		p.r.show(p.rows[i])
		vals := make([]ora.Value, len(p.w.args))
		for k := 1; k < len(vals); k++ {
			v, err := p.w.args[k].eval(p.r.f)
			if err != nil {
				return err
			}
			vals[k] = v
		}
		distance, err := optionalInt(vals, 1, 1)
		if err != nil {
			return err
		}
		if before {
			distance = -distance
		}
		if at := i + distance; at >= 0 && at < len(p.rows) {
			p.r.show(p.rows[at])
			if vals[0], err = p.w.args[0].eval(p.r.f); err != nil {
				return err
			}
		} else if len(vals) == 3 {
			vals[0] = vals[2]
		}
		p.set(i, vals[0])
	}
	return nil
}

func (p *windowPart) ends(first bool) error {
	for i := range p.rows {
		at := p.rows[0]
		if !first {
			at = p.rows[p.extentEnd(i)-1]
		}
		p.r.show(at)
		v, err := p.w.args[0].eval(p.r.f)
		if err != nil {
			return err
		}
		p.set(i, v)
	}
	return nil
}

func (p *windowPart) aggregate() error {
	var acc accumulator
	seen := 0
	for i := range p.rows {
		for end := p.extentEnd(i); seen < end; seen++ {
			p.r.show(p.rows[seen])
			if err := p.w.agg.add(&acc, p.r.f); err != nil {
				return err
			}
		}
		v, err := p.w.agg.result(&acc)
		if err != nil {
			return err
		}
		p.set(i, v)
	}
	return nil
}
