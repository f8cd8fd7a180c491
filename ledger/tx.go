package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// decideAttempts bounds how often a decision starts again after a deadlock or a serialization failure.
const decideAttempts = 6

// commitTimeout bounds a COMMIT. It does not end with the caller's context: a commit that was begun is waited for,
// since breaking it off would only make its outcome unknown.
const commitTimeout = 10 * time.Second

// decide runs f in one transaction and commits what it did. f may run more than once and has no effect but on the
// ledger. An error of f rolls back. READ COMMITTED: what f reads after it has locked the run's row is up to date.
func (l *Ledger) decide(ctx context.Context, f func(pgx.Tx) error) error {
	var err error
	for range decideAttempts {
		if err = l.attempt(ctx, f); !retryable(err) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("after %d attempts: %w", decideAttempts, err)
}

// decideByToken is decide for a decision that writes a token of its caller where tokens are unique. If it meets its own
// token, an earlier call whose answer was lost has been committed after this one looked for it: it starts again, and
// finds it.
func (l *Ledger) decideByToken(ctx context.Context, f func(pgx.Tx) error) error {
	var err error
	for range decideAttempts {
		if err = l.decide(ctx, f); !tokenTaken(err) {
			return err
		}
	}
	return err
}

// tokenTaken says whether a token was written twice.
func tokenTaken(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && strings.HasSuffix(pg.ConstraintName, "_token_key")
}

func (l *Ledger) attempt(ctx context.Context, f func(pgx.Tx) error) error {
	tx, err := l.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: l.begin})
	if err != nil {
		return l.connectError(err)
	}
	if err := f(tx); err != nil {
		rollback(ctx, tx)
		return l.connectError(err)
	}
	return l.commit(ctx, tx)
}

// rollback ends the transaction even when the caller's context is over. If it cannot, the pool drops the connection,
// which ends it too; the error that led here is the one to tell.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

func (l *Ledger) commit(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	err := tx.Commit(ctx)
	if err == nil {
		return nil
	}
	if commitRefused(err) {
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("commit: %w: %w", ErrCommitUnknown, l.connectError(err))
}

// commitRefused says whether the error of a COMMIT proves that nothing was committed: the server itself answered so on
// a connection that lives, or not a byte was sent.
func commitRefused(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, pgx.ErrTxClosed) || pgconn.SafeToRetry(err) {
		return true
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// retryable says whether PostgreSQL undid the transaction only because of others: deadlock, serialization failure.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}

// beginStatement opens a transaction with the limits of the ledger, in one round trip. SET LOCAL also holds behind a
// pooler that hands out connections by transaction.
func beginStatement(cfg Config) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("'%dms'", d.Milliseconds()) }
	return strings.Join([]string{
		"BEGIN ISOLATION LEVEL READ COMMITTED",
		"SET LOCAL synchronous_commit = on",
		"SET LOCAL lock_timeout = " + ms(cfg.LockTimeout),
		"SET LOCAL statement_timeout = " + ms(cfg.StatementTimeout),
		"SET LOCAL idle_in_transaction_session_timeout = " + ms(cfg.IdleTimeout),
	}, "; ")
}
