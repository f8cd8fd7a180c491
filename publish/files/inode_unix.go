//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// inode is the file system's own id of a file.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
