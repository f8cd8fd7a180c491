package stage

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
)

// maxOwnerFile bounds what is read of an OwnerFile: ours are below 512 bytes.
const maxOwnerFile = 4096

// Own makes dir the layout's: its OwnerFile is there when Own returns. Done before it is no error; a directory
// of somebody else is ErrMismatch.
func Own(ctx context.Context, s Store, l Layout, dir string) error {
	err := checkOwner(ctx, s, l, dir)
	if !errors.Is(err, ErrNotExist) {
		return err
	}
	content, err := json.Marshal(l.owner)
	if err != nil {
		return fmt.Errorf("write owner of %s: %w", dir, err)
	}
	err = place(ctx, s, l, path.Join(dir, OwnerFile), append(content, '\n'))
	if errors.Is(err, ErrExist) { // another process of the same run was first
		return checkOwner(ctx, s, l, dir)
	}
	return err
}

// checkOwner compares dir's OwnerFile with the layout: ErrNotExist when there is none, ErrMismatch when it is
// somebody else's.
func checkOwner(ctx context.Context, s Store, l Layout, dir string) error {
	name := path.Join(dir, OwnerFile)
	content, err := readSmall(ctx, s, name)
	if err != nil {
		return err
	}
	var found Owner
	if err := json.Unmarshal(content, &found); err != nil {
		return fmt.Errorf("read %s: %w: %w", name, err, ErrMismatch)
	}
	if found != l.owner {
		return fmt.Errorf("check %s: it is of %v, not of %v: %w", name, found, l.owner, ErrMismatch)
	}
	return nil
}

func readSmall(ctx context.Context, s Store, name string) (content []byte, err error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() > maxOwnerFile {
		return nil, fmt.Errorf("read %s: %d bytes, at most %d: %w", name, f.Size(), maxOwnerFile, ErrMismatch)
	}
	content = make([]byte, f.Size())
	if _, err := f.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}

// draftPrefix begins the names of small files that have not got their place yet.
const draftPrefix = ".draft-"

// place makes a small file appear whole: written under a name of its own among the attempts, then moved. (On
// HDFS a file is visible from its creation, so a writer that died would leave a half one in the place.)
func place(ctx context.Context, s Store, l Layout, name string, content []byte) error {
	draft := path.Join(l.AttemptsDir(), draftPrefix+rand.Text())
	f, err := s.Create(ctx, draft)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", draft, err), f.Abort())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", draft, err)
	}
	err = s.Rename(ctx, draft, name)
	if errors.Is(err, ErrExist) {
		return errors.Join(err, s.Remove(ctx, draft))
	}
	return err
}
