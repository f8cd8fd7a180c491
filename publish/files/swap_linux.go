package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap puts the directory fresh in the place of target, in one step; what was there is then under fresh's name
// or old's. An error means that nothing has changed, unless it is errDamaged or of a kind that no rename has.
func swap(fresh, target, old string) error {
	err := renameat2(fresh, target, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOENT) { // the partition is new, or fresh was fenced away: this one tells them apart
		err = renameat2(fresh, target, unix.RENAME_NOREPLACE)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // not on this file system
		return swapRename(fresh, target, old)
	}
	return err
}

func renameat2(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
