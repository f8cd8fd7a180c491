//go:build !linux

package files

// swap has no single step here. See swapRename.
func swap(fresh, target, old string) error { return swapRename(fresh, target, old) }
