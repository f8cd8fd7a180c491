package ttc

import (
	"errors"
	"fmt"

	"github.com/loadctl/loadctl/extract"
)

// Error is an error of the server or of its listener.
type Error struct {
	Code     int    // as in ORA-00942
	Position int    // where in the statement, in bytes from 0, for errors of parsing
	Message  string // the server's own words, which begin with the code
}

func (e *Error) Error() string { return e.Message }

// UnsupportedError says what this client does not speak or decode. Another client may.
type UnsupportedError struct {
	What     string
	Declared string // of the column that is not decoded; "" when nothing is read at all
}

func (e *UnsupportedError) Error() string { return "the thin reader does not read " + e.What }

// Unwrap makes it an extract.ErrUnsupported.
func (e *UnsupportedError) Unwrap() error { return extract.ErrUnsupported }

// ErrProtocol: a byte made no sense. The session is broken.
var ErrProtocol = errors.New("oracle protocol out of step")

// errBroken is what a broken session answers.
var errBroken = errors.New("use of a broken session")

// ValueError is a value that its column's type cannot hold exactly.
type ValueError struct {
	Column string
	Row    int64 // of the result, from 1
	Value  string
	Why    string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("column %q of row %d: %v: %s: %s", e.Column, e.Row, extract.ErrValue, e.Value, e.Why)
}

// Unwrap makes it an extract.ErrValue.
func (e *ValueError) Unwrap() error { return extract.ErrValue }
