package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A slot is the right to one session on a source. Slots of a source are numbered from 1; a run may hold those up to its
// own max sessions. A slot is freed by who holds it, or by the end of its lease; the end of a run frees none, because
// its workers still have their sessions until they notice.

// ensureSlots makes the rows of a source's slots.
func ensureSlots(ctx context.Context, tx pgx.Tx, source string, n int) error {
	_, err := exec(ctx, tx, "slot_ensure", args{"source": source, "n": n})
	return err
}

// TakeSlot takes a session on source for work that is no partition, such as planning. It guards that no more than max
// are held, over all processes. False means that all are taken now. The same token again succeeds again.
func (l *Ledger) TakeSlot(ctx context.Context, source string, limit int, token uuid.UUID, lease time.Duration) (bool, error) {
	taken := false
	err := l.decideByToken(ctx, func(tx pgx.Tx) error {
		if err := ensureSlots(ctx, tx, source, limit); err != nil {
			return err
		}
		n, err := exec(ctx, tx, "slot_renew", args{"token": token, "lease": lease})
		if err == nil && n == 0 {
			taken, err = takeSlot(ctx, tx, nil, source, limit, token, l.cfg.By, lease)
			return err
		}
		taken = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take session on %s: %w", source, err)
	}
	return taken, nil
}

func takeSlot(ctx context.Context, tx pgx.Tx, run *uuid.UUID, source string, limit int, token uuid.UUID, holder string, lease time.Duration) (bool, error) {
	n, err := exec(ctx, tx, "slot_take", args{"source": source, "limit": limit, "token": token, "run": run, "holder": holder, "lease": lease})
	return n > 0, err
}

// RenewSlot extends the lease of a slot. False means that it is no longer this token's.
func (l *Ledger) RenewSlot(ctx context.Context, token uuid.UUID, lease time.Duration) (bool, error) {
	var n int64
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		n, err = exec(ctx, tx, "slot_renew", args{"token": token, "lease": lease})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("renew session: %w", err)
	}
	return n > 0, nil
}

// FreeSlot gives a slot back once its session is closed. It is no error if the token holds none.
func (l *Ledger) FreeSlot(ctx context.Context, token uuid.UUID) error {
	if err := l.decide(ctx, func(tx pgx.Tx) error { return freeSlot(ctx, tx, token) }); err != nil {
		return fmt.Errorf("free session: %w", err)
	}
	return nil
}

func freeSlot(ctx context.Context, tx pgx.Tx, token uuid.UUID) error {
	_, err := exec(ctx, tx, "slot_free", args{"token": token})
	return err
}
