package stage

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// Seal moves exactly the chunks that the manifest lists into the run's directory.
//
// Before: every chunk is durable in its attempt's directory, and the manifest is the ledger's. After: the run's
// directory holds OwnerFile, the chunks, SuccessFile, and nothing else but publish marks. In order:
//
//  1. Look. Every chunk is found in its attempt or in the run's directory with the listed length, and the
//     run's directory holds nothing else. A crash here has changed nothing; a difference is found before
//     anything was moved.
//  2. OwnerFile is written, before any data: from now on the directory says whose it is. (Among the attempts
//     too, where it is unless the run had no chunk.) A crash after it leaves directories that may be cleaned.
//  3. Each chunk is renamed. A crash between two renames leaves some chunks here and some there: the look of
//     the next call takes "gone there, here with the listed length" for done. An answer that was lost reads
//     the same way. A chunk that is in both places, in none, or has another length, is ErrMismatch.
//  4. The directory is listed again and compared: this, not the renames, is what SuccessFile vouches for.
//  5. SuccessFile is written. A crash before it: repeated, all chunks are done, and only 4 and 5 remain. A crash
//     after it: repeated, there is nothing to do.
//
// Every end but nil leaves a state that another call goes on from. It is called by the owner of the step only;
// two at once would still move each chunk once, and one of them would fail.
func Seal(ctx context.Context, s Store, l Layout, m Manifest) error {
	if err := l.checkManifest(m); err != nil {
		return fmt.Errorf("seal %s: %w", l.RunDir(), err)
	}
	waiting, err := look(ctx, s, l, m)
	if err != nil {
		return fmt.Errorf("seal %s: %w", l.RunDir(), err)
	}
	for _, dir := range []string{l.AttemptsDir(), l.RunDir()} {
		if err := Own(ctx, s, l, dir); err != nil {
			return fmt.Errorf("seal %s: %w", l.RunDir(), err)
		}
	}
	for _, c := range waiting {
		if err := move(ctx, s, l, c); err != nil {
			return fmt.Errorf("seal %s: %w", l.RunDir(), err)
		}
	}
	sealed, err := compareListing(ctx, s, l, m)
	if err != nil {
		return fmt.Errorf("seal %s: %w", l.RunDir(), err)
	}
	if sealed {
		return nil
	}
	err = place(ctx, s, l, path.Join(l.RunDir(), SuccessFile), nil)
	if err != nil && !errors.Is(err, ErrExist) {
		return fmt.Errorf("seal %s: %w", l.RunDir(), err)
	}
	return nil
}

// CheckSealed says whether the run's directory still holds what Seal left there: nil, or ErrMismatch naming the
// first file that is missing, too many, or of another length. It reads no content.
func CheckSealed(ctx context.Context, s Store, l Layout, m Manifest) error {
	if err := errors.Join(l.checkManifest(m), checkOwner(ctx, s, l, l.RunDir())); err != nil {
		return fmt.Errorf("check %s: %w", l.RunDir(), err)
	}
	sealed, err := compareListing(ctx, s, l, m)
	if err != nil {
		return fmt.Errorf("check %s: %w", l.RunDir(), err)
	}
	if !sealed {
		return fmt.Errorf("check %s: %s is missing: %w", l.RunDir(), SuccessFile, ErrMismatch)
	}
	return nil
}

// look finds every chunk and returns those that still wait in their attempt's directory.
func look(ctx context.Context, s Store, l Layout, m Manifest) ([]Chunk, error) {
	sealed, err := listFiles(ctx, s, l.RunDir())
	if err != nil {
		return nil, err
	}
	if err := checkExtra(sealed, m); err != nil {
		return nil, err
	}
	attempts := make(map[string]map[string]Info)
	var waiting []Chunk
	for _, c := range m.Chunks {
		dir, name := path.Split(c.Path)
		if _, known := attempts[dir]; !known {
			if attempts[dir], err = listFiles(ctx, s, path.Clean(dir)); err != nil {
				return nil, err
			}
		}
		done, err := moved(c, attempts[dir][name], sealed[name])
		if err != nil {
			return nil, err
		}
		if !done {
			waiting = append(waiting, c)
		}
	}
	return waiting, nil
}

// moved tells whether a chunk has been moved, from what is at its two places (a zero Info is nothing).
func moved(c Chunk, from, to Info) (bool, error) {
	found := to
	switch {
	case from.Path == "" && to.Path == "":
		return false, fmt.Errorf("file %s (%d bytes by the ledger) is missing: %w", c.Path, c.Bytes, ErrMismatch)
	case from.Path != "" && to.Path != "":
		return false, fmt.Errorf("file %s (%d bytes) is in its attempt and as %s (%d bytes) too: %w", from.Path, from.Size, to.Path, to.Size, ErrMismatch)
	case to.Path == "":
		found = from
	}
	return to.Path != "", checkFound(c, found)
}

func checkFound(c Chunk, found Info) error {
	if found.Dir {
		return fmt.Errorf("file %s is a directory: %w", found.Path, ErrMismatch)
	}
	if found.Size != c.Bytes {
		return fmt.Errorf("file %s has %d bytes, %d by the ledger: %w", found.Path, found.Size, c.Bytes, ErrMismatch)
	}
	return nil
}

// move renames one chunk. A store that refuses because something is at either end is asked once more: the
// rename of an earlier call, whose answer was lost, may have been carried out since the look.
func move(ctx context.Context, s Store, l Layout, c Chunk) error {
	err := s.Rename(ctx, c.Path, l.Sealed(c))
	if !errors.Is(err, ErrExist) && !errors.Is(err, ErrNotExist) {
		return err
	}
	from, errFrom := statIfThere(ctx, s, c.Path)
	to, errTo := statIfThere(ctx, s, l.Sealed(c))
	if err := errors.Join(errFrom, errTo); err != nil {
		return err
	}
	done, errMoved := moved(c, from, to)
	if errMoved != nil {
		return errMoved
	}
	if !done { // it is where it was, and nothing is in its way
		return err
	}
	return nil
}

func statIfThere(ctx context.Context, s Store, name string) (Info, error) {
	info, err := s.Stat(ctx, name)
	if errors.Is(err, ErrNotExist) {
		return Info{}, nil
	}
	return info, err
}

// compareListing compares the run's directory with the manifest, and tells whether SuccessFile is there.
func compareListing(ctx context.Context, s Store, l Layout, m Manifest) (sealed bool, err error) {
	files, err := listFiles(ctx, s, l.RunDir())
	if err != nil {
		return false, err
	}
	if err := checkExtra(files, m); err != nil {
		return false, err
	}
	for _, c := range m.Chunks {
		info, there := files[ChunkName(c.Partition, c.Index)]
		if !there {
			return false, fmt.Errorf("file %s (%d bytes by the ledger) is missing: %w", l.Sealed(c), c.Bytes, ErrMismatch)
		}
		if err := checkFound(c, info); err != nil {
			return false, err
		}
	}
	_, sealed = files[SuccessFile]
	return sealed, nil
}

// checkExtra refuses a file in the run's directory that is neither a listed chunk nor one of ours.
func checkExtra(files map[string]Info, m Manifest) error {
	listed := make(map[string]bool, len(m.Chunks)+2)
	listed[OwnerFile], listed[SuccessFile] = true, true
	for _, c := range m.Chunks {
		listed[ChunkName(c.Partition, c.Index)] = true
	}
	for name, info := range files {
		if _, mark := MarkNumber(name); !listed[name] && !mark {
			return fmt.Errorf("file %s (%d bytes) is not in the ledger: %w", info.Path, info.Size, ErrMismatch)
		}
	}
	return nil
}

// listFiles lists a directory by name; one that is not there is empty.
func listFiles(ctx context.Context, s Store, dir string) (map[string]Info, error) {
	infos, err := s.List(ctx, dir)
	if err != nil && !errors.Is(err, ErrNotExist) {
		return nil, err
	}
	files := make(map[string]Info, len(infos))
	for _, info := range infos {
		files[path.Base(info.Path)] = info
	}
	return files, nil
}
