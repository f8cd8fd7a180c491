package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace moves a name in one step, or refuses because the new one is taken. Some network file systems
// cannot do that: there it looks first, which is enough for names that belong to one attempt.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return lookAndRename(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
