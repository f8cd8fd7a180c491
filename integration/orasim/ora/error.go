package ora

import "fmt"

// Error is an ORA- error. Pos is the 0-based byte offset in the statement for parse errors, else 0.
type Error struct {
	Code int
	Text string // without the "ORA-nnnnn: " prefix
	Pos  int
}

func (e *Error) Error() string { return fmt.Sprintf("ORA-%05d: %s", e.Code, e.Text) }

// Errorf makes an *Error.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}
