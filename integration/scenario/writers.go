package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Writers are sessions that insert, update and delete rows of the table, of the scenario's date too, and commit, until
// they are stopped.
type Writers struct {
	stop    context.CancelFunc
	group   *errgroup.Group
	commits atomic.Int64
	once    sync.Once
	err     error
}

// writers is how many sessions write, writePause how long each rests between two transactions.
const (
	writers    = 3
	writePause = 2 * time.Millisecond
)

// StartWriters starts the sessions. seed makes what they do repeatable, but not when they do it.
func (w *World) StartWriters(seed uint64) *Writers {
	ctx, stop := context.WithCancel(context.Background())
	ws := &Writers{stop: stop, group: &errgroup.Group{}}
	for i := range writers {
		ws.group.Go(func() error { return ws.write(ctx, w, i, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	return ws
}

// Stop ends the sessions and tells how many transactions they committed.
func (ws *Writers) Stop() (commits int64, err error) {
	ws.once.Do(func() {
		ws.stop()
		ws.err = ws.group.Wait()
	})
	return ws.commits.Load(), ws.err
}

func (ws *Writers) write(ctx context.Context, w *World, n int, r *rand.Rand) error {
	session, err := w.Oracle.Database().Connect(ora.Login{Service: Service, User: Owner, Program: "writer"})
	if err != nil {
		return fmt.Errorf("writer %d: %w", n, err)
	}
	defer session.Close()
	next := 1_000_000 * (n + 1) // keys that no other session makes
	for ctx.Err() == nil {
		for range 1 + r.IntN(4) {
			next++
			// Each session keeps to keys of its own, so that none waits for another's row.
			if err := run(ctx, session, change(r, n, next)); err != nil && ctx.Err() == nil {
				return fmt.Errorf("writer %d: %w", n, err)
			}
		}
		if err := session.Commit(); err != nil {
			return fmt.Errorf("writer %d: commit: %w", n, err)
		}
		ws.commits.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(writePause):
		}
	}
	return nil
}

// Write runs one statement as the owner of the table and commits.
func (w *World) Write(ctx context.Context, text string) error {
	session, err := w.Oracle.Database().Connect(ora.Login{Service: Service, User: Owner, Program: "writer"})
	if err != nil {
		return err
	}
	defer session.Close()
	if err := run(ctx, session, text); err != nil {
		return err
	}
	return session.Commit()
}

func change(r *rand.Rand, session, next int) string {
	seq := 1 + r.IntN(120000)
	seq -= seq % writers
	seq += session
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("INSERT INTO APP.INSP_DTL (SEQ, INSP_DT, AMOUNT, GRADE) VALUES (%d, DATE '%s', %d.%02d, 'N')", next, Date, r.IntN(9999), r.IntN(100))
	case 1:
		return fmt.Sprintf("UPDATE APP.INSP_DTL SET AMOUNT = AMOUNT + 1, NOTE = 'changed' WHERE SEQ = %d", seq)
	default:
		return fmt.Sprintf("DELETE FROM APP.INSP_DTL WHERE SEQ = %d", seq)
	}
}

func run(ctx context.Context, s ora.Session, text string) error {
	st, err := s.Prepare(text)
	if err != nil {
		return err
	}
	_, _, err = st.Execute(ctx, nil)
	return err
}
