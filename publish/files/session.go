package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/loadctl/loadctl/publish"
)

// session is a publish.Session: a directory in tmpDir that the new partition is prepared in. Without it
// nothing can be published, so that moving it away is a fence.
type session struct {
	w        *Warehouse
	id       string
	instance string

	mu     sync.Mutex
	closed bool
	sent   bool // a swap was tried: a session publishes once
}

// Open implements publish.Warehouse.
func (w *Warehouse) Open(ctx context.Context, _ string) (publish.Session, error) {
	instance, err := w.Identity(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{w: w, id: rand.Text(), instance: instance}
	if err := makeDir(s.dir(), w.cfg.DirMode); err != nil {
		return nil, fmt.Errorf("open a session to publish: %w: %w", publish.ErrStatement, err)
	}
	w.sweep()
	return s, nil
}

// Fence ends a session that another process may hold. No error means that it can change nothing any more.
func (w *Warehouse) Fence(ctx context.Context, h publish.Handle) error {
	if here, err := w.Identity(ctx); err != nil || here != h.Instance {
		return fmt.Errorf("fence the publisher: %w: the session is of %s, this is %s", publish.ErrUnreachable, h.Instance, here)
	}
	if h.Session == "" || strings.Trim(h.Session, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return fmt.Errorf("fence the publisher: %w: bad session handle", publish.ErrStatement)
	}
	if err := w.end(h.Session, false); err != nil {
		return fmt.Errorf("fence the publisher: %w: %w", publish.ErrStatement, err)
	}
	return nil
}

// closedSuffix marks what was a session's directory. Renaming it so, in one step, is what ends the session.
const closedSuffix = "-closed"

// end closes a session for good, and removes what it had prepared. Files that it replaced are kept for readers
// that have listed them: see sweep.
func (w *Warehouse) end(id string, keep bool) error {
	dir := filepath.Join(w.root, tmpDir, id)
	if err := os.Rename(dir, dir+closedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil || keep {
		return err
	}
	return os.RemoveAll(dir + closedSuffix)
}

// sweep removes what closed sessions have replaced, once readers have had KeepReplaced to finish, and what is left of
// sessions whose process died. What it cannot remove, the next one will.
func (w *Warehouse) sweep() {
	entries, err := os.ReadDir(filepath.Join(w.root, tmpDir))
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(w.root, tmpDir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case !strings.HasSuffix(e.Name(), closedSuffix):
			w.sweepDead(dir, info)
		case time.Since(info.ModTime()) > w.cfg.KeepReplaced:
			os.RemoveAll(dir)
		}
	}
}

// keepDead is how long a session in which nothing happens may still be somebody's. Without its directory it can publish
// nothing, so that one which lives after all is refused.
const keepDead = 24 * time.Hour

// sweepDead removes a session's directory (or another draft) that nobody has changed for keepDead. One that holds a
// partition that was moved aside stays: that may be the only copy.
func (w *Warehouse) sweepDead(dir string, info fs.FileInfo) {
	last := info.ModTime()
	if fresh, err := os.Stat(filepath.Join(dir, "new")); err == nil && fresh.ModTime().After(last) {
		last = fresh.ModTime()
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); !errors.Is(err, fs.ErrNotExist) || time.Since(last) <= keepDead {
		return
	}
	if os.Rename(dir, dir+closedSuffix) == nil {
		os.RemoveAll(dir + closedSuffix)
	}
}

func (s *session) dir() string { return filepath.Join(s.w.root, tmpDir, s.id) }

// Handle implements publish.Session.
func (s *session) Handle() publish.Handle {
	return publish.Handle{Instance: s.instance, Session: s.id}
}

// Close implements publish.Session.
func (s *session) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if err := s.w.end(s.id, s.sent); err != nil {
		return fmt.Errorf("close the publishing session: %w: %w", publish.ErrStatement, err)
	}
	return nil
}

// Publish copies, syncs and swaps. Everything before the swap that fails leaves the target as it was, and so is
// ErrRefused; so is a swap that the system refuses. What is there after the swap and not known to be durable is
// ErrUnknown.
func (s *session) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := time.Now()
	result := publish.Result{Rows: -1, QueryID: s.id}
	op := "publish to " + p.Target.Database + "." + p.Target.Table
	target, err := s.prepare(ctx, p, report)
	if err != nil {
		return result, fmt.Errorf("%s: %w: %w", op, publish.ErrRefused, err)
	}
	report(publish.Progress{Operation: s.id, QueryID: s.id, Fraction: 1, Text: "swap"})
	s.sent = true
	fresh, old := filepath.Join(s.dir(), "new"), filepath.Join(s.dir(), "old")
	if err := swap(fresh, target, old); err != nil {
		return result, fmt.Errorf("%s: %w: %w", op, swapOutcome(err), err)
	}
	for _, dir := range []string{filepath.Dir(target), s.dir()} {
		if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // fenced after the fact
			return result, fmt.Errorf("%s: %w: %w", op, publish.ErrUnknown, err)
		}
	}
	result.Elapsed = time.Since(began)
	return result, nil
}

// swapOutcome: what a rename refuses for is known, and then it has not been done. The rest is not: a network
// file system may have lost the answer.
func swapOutcome(err error) error {
	if errors.Is(err, errDamaged) {
		return publish.ErrUnknown
	}
	for _, known := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, syscall.EXDEV, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOTDIR, syscall.EROFS, syscall.EBUSY} {
		if errors.Is(err, known) {
			return publish.ErrRefused
		}
	}
	return publish.ErrUnknown
}

// prepare checks both tables, copies the sealed files into the session's directory, and makes the parents of
// the target. It returns the directory to replace.
func (s *session) prepare(ctx context.Context, p publish.Publication, report func(publish.Progress)) (string, error) {
	if s.closed {
		return "", errors.New("the session is closed")
	}
	if s.sent {
		return "", errors.New("the session has published already")
	}
	if err := errors.Join(s.w.checkStaging(p.Staging), s.w.checkTable(p.Target)); err != nil {
		return "", err
	}
	if diffs := publish.ColumnDifferences(fields(p.Staging.Columns), fields(p.Target.Columns)); len(diffs) > 0 {
		return "", publish.SchemaError(p.Staging.Database, p.Staging.Table, diffs)
	}
	target, err := s.w.dataPath(p.Target)
	if err != nil {
		return "", err
	}
	if err := s.copy(ctx, p, report); err != nil {
		return "", err
	}
	return target, makeDir(filepath.Dir(target), s.w.cfg.DirMode)
}

func (s *session) copy(ctx context.Context, p publish.Publication, report func(publish.Progress)) error {
	from, err := localDir(p.Staging.Location)
	if err != nil {
		return err
	}
	files, err := dataFiles(ctx, from)
	if err != nil {
		return err
	}
	if len(p.Target.Partition) == 0 { // the table's own directory is replaced: its schema goes along
		table, err := s.w.tablePath(p.Target.Database, p.Target.Table)
		if err != nil {
			return err
		}
		files = append(files, filepath.Join(table, schemaFile))
	}
	// not makeDir: it would bring a session back that was fenced
	fresh := filepath.Join(s.dir(), "new")
	if err := os.Mkdir(fresh, s.w.cfg.DirMode); err != nil {
		return err
	}
	if err := os.Chmod(fresh, s.w.cfg.DirMode); err != nil {
		return err
	}
	for i, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		report(publish.Progress{Operation: s.id, QueryID: s.id, Fraction: float64(i) / float64(len(files)), Text: "copy"})
		if err := copyFile(f, filepath.Join(fresh, filepath.Base(f)), s.w.cfg.FileMode); err != nil {
			return err
		}
	}
	return syncDir(fresh)
}
