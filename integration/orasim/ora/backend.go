// Package ora is the vocabulary that the parts of orasim share: Oracle's type codes and internal value
// encodings, its errors, and the port between the wire server (which speaks TNS and TTC and knows no SQL)
// and the engine (which runs SQL and knows no sockets).
//
// It is test equipment: nothing of the product imports it.
package ora

import "context"

// Value is one column or bind value in Oracle's internal encoding, exactly as it stands inside a CLR on the
// wire: NUMBER as base-100 digits, DATE as 7 bytes, TIMESTAMP as 7 or 11 bytes, character data in the
// database charset (national text in UTF-16BE), RAW as it is. ROWID and UROWID are the exception: their Value
// is RowID's 12 bytes, and the wire turns them into its own form. A nil or empty Value is NULL: the empty
// string is NULL in Oracle. Only a CLOB or BLOB may be empty without being NULL.
type Value []byte

// Type codes as TTC numbers them.
const (
	Varchar2      uint8 = 1
	Number        uint8 = 2
	Long          uint8 = 8
	Rowid         uint8 = 11
	Date          uint8 = 12
	Raw           uint8 = 23
	LongRaw       uint8 = 24
	Char          uint8 = 96
	BinaryFloat   uint8 = 100
	BinaryDouble  uint8 = 101
	Cursor        uint8 = 102
	Object        uint8 = 109
	Clob          uint8 = 112
	Blob          uint8 = 113
	Bfile         uint8 = 114
	JSON          uint8 = 119
	Timestamp     uint8 = 180
	TimestampTZ   uint8 = 181
	IntervalYM    uint8 = 182
	IntervalDS    uint8 = 183
	Urowid        uint8 = 208
	TimestampLTZ  uint8 = 231
	FormDatabase  uint8 = 1 // character set form: the database's
	FormNational  uint8 = 2 // character set form: the national one
	ScaleFloating int8  = -127
)

// Type is a declared or computed SQL type.
type Type struct {
	Code      uint8
	Precision uint8 // NUMBER: 0 with Scale ScaleFloating when undeclared
	Scale     int8  // NUMBER scale; TIMESTAMP and INTERVAL DAY TO SECOND: fractional digits
	Bytes     uint32
	Chars     uint32 // character types: maximum length in characters
	CharUsed  bool   // declared with CHAR length semantics (CHAR_USED = 'C')
	Form      uint8  // FormDatabase or FormNational; 0 for types that are not text
}

// Column describes one column of a select list. Type.Bytes 0 means "always NULL": no byte is sent for it.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
}

// Bind is one bind variable of an execution.
type Bind struct {
	Type  Type
	Value Value
}

// Kind tells the wire what a statement needs.
type Kind uint8

// Kinds of statements. Numbers below 8 are also the "SQL type" of the OER record.
const (
	KindOther  Kind = 0 // DDL, ALTER SESSION, SET TRANSACTION, ...
	KindInsert Kind = 2
	KindSelect Kind = 3
	KindUpdate Kind = 4
	KindDelete Kind = 5
	KindMerge  Kind = 6
	KindPLSQL  Kind = 8
)

// Login says who connects, from where.
type Login struct {
	Service, User               string // User as typed, upper-cased unless it was quoted
	Program, Machine, Terminal  string
	OSUser, PID, Driver, Remote string
}

// Backend is an instance: it knows services and users and opens sessions.
type Backend interface {
	// Accepts says whether a SERVICE_NAME or SID (compared without case) is served.
	Accepts(service string) bool
	// Password returns the password of a user; ok is false for an unknown one (the wire then plays the login
	// to its end and answers ORA-01017, as a real server does).
	Password(user string) (password string, ok bool)
	// LoginFailed records a wrong password (account locks).
	LoginFailed(user string)
	// Connect opens a session after the password was checked. Errors: ORA-01045, 28000, 00018, ...
	Connect(l Login) (Session, error)
}

// Session is one logged-in session. It is used by one goroutine at a time, except Kill.
type Session interface {
	ID() (sid, serial uint32)
	// Prepare parses. An *Error carries the code and the 0-based byte offset.
	Prepare(sql string) (Statement, error)
	Commit() error
	Rollback() error
	InTransaction() bool
	// SCN is the instance's current SCN, reported after an execute.
	SCN() uint64
	SetEndToEnd(module, action, clientID, clientInfo *string) // nil: unchanged
	SetCurrentSchema(name string)
	// Done is closed when the session has been killed; the wire then answers ORA-00028 and closes.
	Done() <-chan struct{}
	Close() // rolls back
}

// Statement is a parsed statement; it may be executed again with other binds.
type Statement interface {
	Kind() Kind
	// Columns describes the select list (nil unless KindSelect). Names and types are as a real server would
	// describe them.
	Columns() []Column
	// Binds names the placeholders in order of appearance (":1" gives "1"); a repeated name appears again.
	Binds() []string
	// Execute runs it. For a query the Cursor yields the rows; for DML rows is the number affected. ctx is
	// cancelled by the client's break: the engine returns Err(1013).
	Execute(ctx context.Context, binds []Bind) (cur RowSource, rows int64, err error)
}

// RowSource yields the rows of a query.
type RowSource interface {
	// Next returns the next row, valid until the following call; io.EOF at the end; an *Error (ORA-01555,
	// 08103, ...) in mid-fetch.
	Next(ctx context.Context) ([]Value, error)
	Close()
}

// PackedSource is a RowSource that can hand over many rows at once, encoded, for clients that can take more
// than a row at a time can give.
type PackedSource interface {
	RowSource
	// NextPacked appends up to n rows to dst and says how many. At the end it returns 0 and io.EOF. It goes on
	// where Next or NextPacked stopped.
	NextPacked(ctx context.Context, dst *Packed, n int) (int, error)
}

// Packed is rows in the form of a CLR for each value: one byte for the length, which is at most 252, then the
// value; a NULL is the length 0. There is nothing between rows, which end at Ends.
type Packed struct {
	Bytes []byte
	Ends  []int
}

// Reset empties it and keeps the memory.
func (p *Packed) Reset() { p.Bytes, p.Ends = p.Bytes[:0], p.Ends[:0] }
