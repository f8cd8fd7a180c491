package wire

import "github.com/loadctl/loadctl/integration/orasim/ora"

// Function codes.
const (
	fnReexecute      = 0x04
	fnFetch          = 0x05
	fnLogoff         = 0x09
	fnCommit         = 0x0E
	fnRollback       = 0x0F
	fnVersion        = 0x3B
	fnReexecuteFetch = 0x4E
	fnExecute        = 0x5E // OALL8
	fnAuthenticate   = 0x73 // second phase
	fnSessionKey     = 0x76 // first phase
	fnPing           = 0x93
	fnLOB            = 0x60
)

// Options of OALL8.
const (
	optParse       = 0x1
	optDefine      = 0x10
	optExecute     = 0x20
	optFetch       = 0x40
	optCommit      = 0x100
	optNoCompress  = 0x40000
	optBatchErrors = 0x80000 // an array DML goes on after an error
)

// Members of the "i4" array of OALL8.
const (
	i4Iterations = 1 // rows of an array DML, or rows to fetch
	i4IsQuery    = 7
	i4Flags      = 9

	i4FlagRowCounts = 0x4000 // wants the number of rows of each iteration
)

// Limits on counts, far above what clients send.
const (
	maxI4    = 64
	maxBinds = 1 << 16
	maxText  = 16 << 20
)

// Type codes that only binds and defines use.
const (
	typeLongVarchar = 94
	typeLongVarraw  = 95
)

// oac describes one bind or define.
type oac struct {
	Type         ora.Type
	Flags        byte
	Array        uint32
	Continuation uint64
	Charset      uint32
	MaxChars     uint32
}

func (o oac) long() bool { return isLong(o.Type.Code) }

// array says that the bind is a PL/SQL array.
func (o oac) array() bool { return o.Flags&0x40 != 0 }

// supported says whether a bind's value reaches the backend. The others are read, to stay in step, and refused.
func (o oac) supported() bool {
	return !o.array() && (o.Type.Code == ora.Cursor || representable(o.Type.Code))
}

func isLong(code uint8) bool {
	return code == ora.Long || code == ora.LongRaw || code == typeLongVarchar || code == typeLongVarraw
}

// lobPrefetch in the continuation flags of a define asks for a LOB's size and beginning with its locator.
const lobPrefetch = 0x2000000

func isLOB(code uint8) bool { return code == ora.Clob || code == ora.Blob || code == ora.Bfile }

// oac reads one bind or define description.
func (d *decoder) oac() oac {
	var o oac
	o.Type.Code = d.u8()
	o.Flags = d.u8()
	o.Type.Precision = d.u8()
	o.Type.Scale = d.sb1()
	o.Type.Bytes = d.u32()
	o.Array = d.u32()
	o.Continuation = d.uint()
	d.dalc() // object type
	d.uint() // its version
	o.Charset = d.u32()
	o.Type.Form = d.u8()
	o.MaxChars = d.u32()
	if o.Type.Chars = o.MaxChars; o.Type.Chars == 0 && o.Type.Form != 0 {
		o.Type.Chars = o.Type.Bytes // most clients say only how many bytes there are
	}
	if d.caps.fieldVersion >= version122 {
		d.uint() // collation
	}
	return o
}

func (d *decoder) oacs(n int) []oac {
	var out []oac
	for i := 0; i < n && d.err == nil; i++ {
		out = append(out, d.oac())
	}
	return out
}

// executeRequest is OALL8: parse, bind, define, execute and fetch in any sensible mixture.
type executeRequest struct {
	Options  uint32
	Cursor   uint32
	SQL      string
	Prefetch uint32
	I4       []int64
	Defines  []oac
	Binds    []oac         // as sent, or those kept by the cursor
	Rows     [][]ora.Value // one per iteration
}

func (r *executeRequest) has(option uint32) bool { return r.Options&option != 0 }

func (r *executeRequest) i4(at int) int64 {
	if at < len(r.I4) {
		return r.I4[at]
	}
	return 0
}

// iterations is how many bind rows follow. Queries use the same field for the rows to fetch.
func (r *executeRequest) iterations() int64 {
	if r.i4(i4IsQuery) == 1 {
		return 1
	}
	return max(1, r.i4(i4Iterations))
}

// fetchSize is how many rows the client wants in the reply.
func (r *executeRequest) fetchSize() int64 {
	if r.Prefetch > 0 {
		return int64(r.Prefetch)
	}
	if r.has(optFetch) {
		return max(0, r.i4(i4Iterations))
	}
	return 0
}

// execute reads OALL8. kept returns the bind descriptions of a cursor: a client that executes again without
// parsing sends rows in their layout.
func (d *decoder) execute(kept func(cursor uint32) []oac) executeRequest {
	var r executeRequest
	r.Options = d.u32()
	r.Cursor = d.u32()
	hasSQL, textLen := d.u8() != 0, d.count(maxText)
	d.u8()
	i4Count := d.count(maxI4)
	d.skip(2)
	d.uint() // prefetch memory
	r.Prefetch = d.u32()
	d.uint() // longest LONG
	hasBinds, binds := d.u8() != 0, d.count(maxBinds)
	d.skip(5)
	hasDefines, defines := d.u8() != 0, d.count(maxBinds)
	d.executeTail()
	if hasSQL && textLen > 0 {
		r.SQL = string(d.chr(textLen))
	}
	for i := 0; i < i4Count && d.err == nil; i++ {
		r.I4 = append(r.I4, d.sint())
	}
	if hasDefines {
		r.Defines = d.oacs(defines)
	}
	if hasBinds {
		r.Binds = d.oacs(binds)
	}
	if len(r.Binds) == 0 && r.Cursor != 0 && !r.has(optParse) && r.has(optExecute) {
		r.Binds = kept(r.Cursor)
	}
	if len(r.Binds) > 0 {
		r.Rows = d.bindRows(r.Binds, r.iterations())
	}
	return r
}

// executeTail reads the fields between the define count and the SQL text, which we do not use.
func (d *decoder) executeTail() {
	d.uint() // registration, low half
	d.skip(3)
	d.uint()
	d.u8()
	d.uint()
	d.uint() // registration, high half
	d.u8()
	d.uint() // row count array
	d.u8()
	if d.caps.fieldVersion >= version122 { // SQL signature and id
		d.u8()
		d.uint()
		d.u8()
		d.uint()
		d.u8()
	}
	if d.caps.fieldVersion >= version122ext { // chunk ids
		d.u8()
		d.uint()
	}
}

func (d *decoder) bindRows(layout []oac, n int64) [][]ora.Value {
	var rows [][]ora.Value
	for i := int64(0); i < n && d.err == nil; i++ {
		if m := d.u8(); m != msgRow {
			d.fail("message %#x instead of a bind row", m)
			break
		}
		rows = append(rows, d.bindRow(layout))
	}
	return rows
}

// bindRow reads one row of binds. Values of LONG types come last.
func (d *decoder) bindRow(layout []oac) []ora.Value {
	row := make([]ora.Value, len(layout))
	for _, last := range []bool{false, true} {
		for i, o := range layout {
			if o.long() == last {
				row[i] = d.bindValue(o)
			}
		}
	}
	return row
}

func (d *decoder) bindValue(o oac) ora.Value {
	if o.array() {
		for n := d.count(maxBinds); n > 0 && d.err == nil; n-- {
			d.clr()
		}
		return nil
	}
	switch {
	case o.Type.Code == ora.Cursor:
		d.u8()
		if d.u8() != 0 {
			d.uint() // the id of a cursor that the client has
		}
		return nil
	case isLOB(o.Type.Code):
		return d.dalc()
	}
	return d.clr()
}

// reexecuteRequest executes a cursor again: rows to fetch for a query, iterations otherwise.
type reexecuteRequest struct {
	Fetch    bool
	Cursor   uint32
	Count    uint32
	Options1 uint32
	Options2 uint32
	Binds    []oac
	Rows     [][]ora.Value
}

const reexecuteCommit = 1 // in Options2

func (d *decoder) reexecute(fetch bool, kept func(cursor uint32) []oac) reexecuteRequest {
	r := reexecuteRequest{Fetch: fetch, Cursor: d.u32(), Count: d.u32(), Options1: d.u32(), Options2: d.u32()}
	r.Binds = kept(r.Cursor)
	if len(r.Binds) == 0 {
		return r
	}
	n := int64(1)
	if !fetch {
		n = max(1, int64(r.Count))
	}
	r.Rows = d.bindRows(r.Binds, n)
	return r
}

// authRequest is either phase of a login.
type authRequest struct {
	User  string
	Mode  uint32
	Pairs map[string]string
}

func (d *decoder) auth() authRequest {
	hasUser, userLen := d.u8() != 0, d.count(1<<10)
	r := authRequest{Mode: d.u32(), Pairs: map[string]string{}}
	d.u8()
	pairs := d.count(1 << 10)
	d.skip(2)
	if hasUser {
		r.User = string(d.chr(userLen))
	}
	for i := 0; i < pairs && d.err == nil; i++ {
		key, value := d.dalc(), d.dalc()
		d.uint()
		r.Pairs[trimNUL(key)] = trimNUL(value)
	}
	return r
}

// trimNUL drops the NUL that Oracle's C clients count as part of names and of statements.
func trimNUL(b []byte) string {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}
