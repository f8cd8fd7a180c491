package ora

// Output is what a PL/SQL block gives back through one of its binds: a value in the encoding of the bind's type, or
// an open query.
type Output struct {
	Bind    int // position, from 0
	Value   Value
	Columns []Column // of Cursor
	Cursor  RowSource
}

// OutputStatement is a Statement that can give values back. Outputs returns those of the last Execute, in the order
// of the binds; the caller then owns the cursors in it.
type OutputStatement interface {
	Statement
	Outputs() []Output
}
