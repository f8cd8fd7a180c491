package hs2

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/beltran/gohive/hiveserver"
)

// Errors. They are wrapped.
var (
	// ErrUnreachable: no connection, or it was lost, or an answer did not come in time.
	ErrUnreachable = errors.New("HiveServer2 unreachable")
	// ErrAuth: the server refuses the user, the password or the mechanism.
	ErrAuth = errors.New("HiveServer2 refuses the login")
	// ErrUnsupported: an authentication that this client does not speak.
	ErrUnsupported = errors.New("not yet supported")
	// ErrNoSession: the server does not know the session: it was closed, or the server was started anew.
	ErrNoSession = errors.New("session does not exist")
)

// Phase tells when the server gave an error.
type Phase string

// Phases. Only an error of PhaseExecute proves that a statement that was compiled and refused never ran, and
// only with some codes: DDL and SET run inside it.
const (
	PhaseSession Phase = "session" // opening or closing the session
	PhaseExecute Phase = "execute" // answered by ExecuteStatement itself
	PhaseRun     Phase = "run"     // the operation was accepted and ended in another state than FINISHED
	PhaseFetch   Phase = "fetch"   // reading results or logs
)

// Error is an answer of the server that is not success. Code and SQLState are Hive's own; Message is its text.
type Error struct {
	Phase    Phase
	Code     int
	SQLState string
	State    string // of the operation, PhaseRun only: "ERROR", "CANCELED", "CLOSED", "TIMEDOUT", "UNKNOWN"
	Message  string
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "hive error %d", e.Code)
	if e.SQLState != "" {
		fmt.Fprintf(&b, " (SQLSTATE %s)", e.SQLState)
	}
	if e.State != "" && e.State != "ERROR" {
		fmt.Fprintf(&b, " [%s]", e.State)
	}
	b.WriteString(": " + e.Message)
	return b.String()
}

// Canceled says whether the operation was ended by someone's word: a cancel, KILL QUERY, a closed session.
func (e *Error) Canceled() bool { return e.State == "CANCELED" || e.State == "CLOSED" }

// longestMessage bounds what is kept of a server's text.
const longestMessage = 1200

// javaFrame is a line of a stack trace, of which a failed query's text may hold hundreds.
var javaFrame = regexp.MustCompile(` at [\w.$/<>-]+\([^()]*\)`)

func cutMessage(s string) string {
	s = javaFrame.ReplaceAllString(strings.Join(strings.Fields(s), " "), "")
	if r := []rune(s); len(r) > longestMessage {
		return string(r[:longestMessage]) + "…"
	}
	return s
}

// check turns a status into an error, nil for success.
func check(phase Phase, s *hiveserver.TStatus) error {
	if s == nil {
		return &Error{Phase: phase, Message: "the server sent no status"}
	}
	switch s.GetStatusCode() {
	case hiveserver.TStatusCode_SUCCESS_STATUS, hiveserver.TStatusCode_SUCCESS_WITH_INFO_STATUS, hiveserver.TStatusCode_STILL_EXECUTING_STATUS:
		return nil
	}
	return &Error{Phase: phase, Code: int(s.GetErrorCode()), SQLState: s.GetSqlState(), Message: cutMessage(s.GetErrorMessage())}
}
