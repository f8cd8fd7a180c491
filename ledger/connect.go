package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ConnectError says why the ledger could not be used. It names the server, never the password.
type ConnectError struct {
	Kind   error  // ErrUnreachable, ErrAuth, ErrNoDatabase, ErrSchema or ErrPrivilege
	Server string // user@host:port/database
	Cause  string
}

func (e *ConnectError) Error() string {
	if e.Cause == "" {
		return fmt.Sprintf("%v (%s)", e.Kind, e.Server)
	}
	return fmt.Sprintf("%v (%s): %s", e.Kind, e.Server, e.Cause)
}

// Unwrap makes errors.Is(err, Kind) hold.
func (e *ConnectError) Unwrap() error { return e.Kind }

// connectKind maps SQLSTATE to what it means for the user of a ledger.
func connectKind(code string) error {
	switch code {
	case "28000", "28P01":
		return ErrAuth
	case "3D000":
		return ErrNoDatabase
	case "3F000", "42P01", "42883", "42703":
		return ErrSchema
	case "42501":
		return ErrPrivilege
	case "57P01", "57P02", "57P03", "53300", // shutting down, starting, too many connections
		"25006", "55000", // read only, in recovery: a standby, or an administrator's doing
		"25P03", "25P04", "55P03", "57014": // its own limits: idle, transaction, lock and statement time-out
		return ErrUnreachable
	}
	if strings.HasPrefix(code, "08") {
		return ErrUnreachable
	}
	return nil
}

// connectError names trouble with the connection and leaves every other error as it is. The driver's text is passed
// on only from the parts that cannot hold a password.
func (l *Ledger) connectError(err error) error { return classify(err, l.server) }

func classify(err error, server string) error {
	var known *ConnectError
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		if kind := connectKind(pg.Code); kind != nil {
			return &ConnectError{Kind: kind, Server: server, Cause: pg.Message}
		}
		return err
	}
	if broken(err) {
		return &ConnectError{Kind: ErrUnreachable, Server: server, Cause: networkCause(err)}
	}
	return err
}

// broken says whether err comes from the connection rather than from what was asked.
func broken(err error) bool {
	var netErr net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.As(err, &netErr) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

// networkCause is the text of the network's error, or else of the innermost one: neither holds a connection string.
func networkCause(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return dns.Error()
	case errors.As(err, &op):
		return op.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	}
	return innermost(err).Error()
}

// innermost follows what an error wraps to its end; of several causes (one a host that was tried) the last.
func innermost(err error) error {
	for {
		var next error
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			next = x.Unwrap()
		case interface{ Unwrap() []error }:
			if all := x.Unwrap(); len(all) > 0 {
				next = all[len(all)-1]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}

// serverName is user@host:port/database of a parsed connection string.
func serverName(c *pgconn.Config) string {
	return fmt.Sprintf("%s@%s/%s", c.User, net.JoinHostPort(c.Host, fmt.Sprint(c.Port)), c.Database)
}
