package ledger

import (
	"context"
	"fmt"
	"path"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// File is a chunk: one file of one attempt.
type File struct {
	Partition int
	Token     uuid.UUID // of the attempt
	Index     int       // 0, 1, … within the attempt
	Path      string    // clean, directly in the attempt's directory
	Rows      int64
	Bytes     int64
	Digest    string // of the content
	Void      bool   // the attempt lost; the file does not count
}

// same says whether a repeated report tells what was recorded.
func (f File) same(other File) bool {
	return f.Token == other.Token && f.Path == other.Path && f.Rows == other.Rows && f.Bytes == other.Bytes && f.Digest == other.Digest
}

// partitionRow is what a decision reads of a partition while it holds its row.
type partitionRow struct {
	State    PartitionState
	Token    *uuid.UUID
	Attempts int
	Expected *int64
	Finished bool
	Chunks   *int
	RowsRead *int64
	Root     string
}

// holds says whether token is the running attempt, and has not finished.
func (p partitionRow) holds(token uuid.UUID) bool {
	return p.State == PartitionRunning && p.Token != nil && *p.Token == token && !p.Finished
}

func lockPartition(ctx context.Context, tx pgx.Tx, held Held) (partitionRow, error) {
	p, found, err := one[partitionRow](ctx, tx, "partition_lock", args{"run": held.Run, "idx": held.Partition})
	if err == nil && !found {
		err = fmt.Errorf("partition %d of run %s: %w", held.Partition, held.Run, ErrNoRun)
	}
	return p, err
}

func (h Held) mismatch(p partitionRow) error {
	return &ClaimMismatchError{Run: h.Run, Partition: h.Partition, State: p.State}
}

// ReportChunk records a chunk that is durable in the store. It guards: an identical repeat is answered as recorded, in
// any later state; else the token must hold the partition (*ClaimMismatchError), the path lie directly in the attempt's
// directory (ErrInvalid), and the index not be taken by other content (*ChunkConflictError).
func (l *Ledger) ReportChunk(ctx context.Context, held Held, f File) error {
	f.Partition, f.Token = held.Partition, held.Token
	if f.Index < 0 || f.Rows < 0 || f.Bytes < 0 || f.Digest == "" {
		return invalid("report chunk %d: index, rows and bytes must not be negative, digest not empty", f.Index)
	}
	err := l.decide(ctx, func(tx pgx.Tx) error { return reportChunk(ctx, tx, held, f) })
	if err != nil {
		return fmt.Errorf("report chunk %d of partition %d: %w", f.Index, held.Partition, err)
	}
	return nil
}

func reportChunk(ctx context.Context, tx pgx.Tx, held Held, f File) error {
	if recorded, found, err := liveFile(ctx, tx, held, f); err != nil || found && recorded.same(f) {
		return err
	}
	p, err := lockPartition(ctx, tx, held)
	if err != nil {
		return err
	}
	if !p.holds(held.Token) {
		return held.mismatch(p)
	}
	if dir := AttemptDir(p.Root, held.Partition, held.Token); !cleanPath(f.Path) || path.Dir(f.Path) != dir {
		return invalid("path %q does not lie directly in %s", f.Path, dir)
	}
	n, err := exec(ctx, tx, "file_insert", args{"run": held.Run, "partition": held.Partition, "token": held.Token, "idx": f.Index,
		"path": f.Path, "rows": f.Rows, "bytes": f.Bytes, "digest": f.Digest})
	if err != nil || n == 1 {
		return err
	}
	recorded, found, err := liveFile(ctx, tx, held, f)
	switch {
	case err != nil:
		return err
	case found && recorded.same(f):
		return nil
	case !found:
		return fmt.Errorf("path %s is recorded under another index: %w", f.Path, ErrChunkConflict)
	}
	return &ChunkConflictError{Run: held.Run, Partition: held.Partition, Recorded: recorded}
}

func liveFile(ctx context.Context, tx pgx.Tx, held Held, f File) (File, bool, error) {
	return one[File](ctx, tx, "file_live", args{"run": held.Run, "partition": held.Partition, "idx": f.Index})
}
