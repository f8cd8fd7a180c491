//go:build !linux

package local

// renameNoReplace looks, then renames: only Linux offers both in one step for files and directories alike.
func renameNoReplace(from, to string) error { return lookAndRename(from, to) }
