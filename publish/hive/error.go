package hive

import (
	"errors"
	"fmt"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
)

// Hive's own error codes (org.apache.hadoop.hive.ql.ErrorMsg).
const (
	codeNoTable       = 10001
	codeNoPartition   = 10006
	codeNoDatabase    = 10072
	codeGenericError  = 40000
	firstCompileError = 10000
	lastCompileError  = 19999
	stateSyntaxAccess = "42000"
)

// wrap gives a client's error the port's name for it. It is for everything but the publish statement. An error of
// another kind, such as the cause that a context was cancelled with, keeps its own.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *hs2.Error
	sentinel := error(nil)
	switch {
	case errors.Is(err, hs2.ErrAuth), errors.Is(err, hs2.ErrUnsupported):
		sentinel = publish.ErrAuth
	case errors.Is(err, hs2.ErrUnreachable), errors.Is(err, hs2.ErrNoSession), errors.Is(err, hs2.ErrPoolClosed):
		sentinel = publish.ErrUnreachable
	case errors.As(err, &e) && (e.Phase == hs2.PhaseSession || e.Canceled()):
		sentinel = publish.ErrUnreachable // too many sessions, an administrator's word: it may pass
	case errors.As(err, &e):
		sentinel = publish.ErrStatement
	default:
		return fmt.Errorf("%s: %w", op, err)
	}
	return fmt.Errorf("%s: %w: %w", op, sentinel, err)
}

// unreadable is for an answer that is not what the statement asked for.
func unreadable(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", op, publish.ErrStatement, err)
}

// storeError gives an error of the file system the warehouse's name for it.
func storeError(err error) error {
	switch {
	case errors.Is(err, stage.ErrUnreachable):
		return fmt.Errorf("%w: %w", publish.ErrUnreachable, err)
	case errors.Is(err, stage.ErrPermission):
		return fmt.Errorf("%w: let the store's user list the directories of the tables: %w", publish.ErrAuth, err)
	}
	return err
}

// hasCode says whether ExecuteStatement itself answered err with this code.
func hasCode(err error, code int) bool {
	var e *hs2.Error
	return errors.As(err, &e) && e.Phase == hs2.PhaseExecute && e.Code == code
}

// provesUnchanged says whether err, which Execute returned for an INSERT, proves that it never ran: the
// compiler's own refusal. The text is not asked: a failure while running also says "compiling".
func provesUnchanged(err error) bool {
	var e *hs2.Error
	if !errors.As(err, &e) || e.Phase != hs2.PhaseExecute {
		return false
	}
	return e.Code >= firstCompileError && e.Code <= lastCompileError ||
		e.Code == codeGenericError && e.SQLState == stateSyntaxAccess
}
