package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ErrSweeping is what a sweep stops at when another one acts at the same moment.
var ErrSweeping = errSweeping

// SweepFound is for tests that let something happen between the two halves of a sweep: it searches for lost partitions,
// and returns what decides about them.
func (l *Ledger) SweepFound(ctx context.Context, o SweepOptions) (func() (Swept, error), error) {
	o.Mode, o.Limit = ModeReissue, 100
	s := &sweep{Ledger: l, opts: o}
	found, err := s.findPartitions(ctx)
	return func() (Swept, error) {
		err := each(found, func(p sweptPartition) error {
			return s.do(ctx, func(tx pgx.Tx) (*Deed, error) { return s.partition(ctx, tx, p) })
		})
		return s.done, err
	}, err
}
