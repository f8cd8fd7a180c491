package files

import (
	"errors"
	"io/fs"
	"os"
)

// swapRename puts the directory fresh in the place of target by two renames; what was there goes to old. Between
// them the target is missing; when the second one fails the first is taken back.
func swapRename(fresh, target, old string) error {
	if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Rename(fresh, target)
	if err != nil {
		if back := os.Rename(old, target); back != nil && !errors.Is(back, fs.ErrNotExist) {
			return errors.Join(errDamaged, err, back)
		}
	}
	return err
}

// errDamaged: the target was moved aside and could not be put back.
var errDamaged = errors.New("the partition is missing: its files are in the warehouse's .loadctl-tmp")
