package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// CheckPath refuses a path that is not clean, relative and inside the store: every Store calls it first, so
// that no name out of a ledger or a file ever reaches above the root. "." is the root itself.
func CheckPath(p string) error {
	if !fs.ValidPath(p) || strings.ContainsAny(p, "\\\x00") {
		return fmt.Errorf("refuse path %q: not a clean path below the store's root", p)
	}
	return nil
}

// CheckChunkPath refuses a chunk that is not directly in its attempt's directory, or whose name readers would
// not see as data.
func CheckChunkPath(attemptDir, chunk string) error {
	if err := errors.Join(CheckPath(attemptDir), CheckPath(chunk)); err != nil {
		return err
	}
	if path.Dir(chunk) != attemptDir {
		return fmt.Errorf("refuse chunk %q: not directly in %q", chunk, attemptDir)
	}
	if base := path.Base(chunk); base[0] == '.' || base[0] == '_' {
		return fmt.Errorf("refuse chunk %q: a name that begins with %q is hidden from readers", chunk, base[:1])
	}
	return nil
}

// maxName is the greatest length of a name in a layout: far below the 255 bytes that file systems take, with
// room for what is put around it.
const maxName = 128

// checkName refuses what cannot be one component of a path on every store: names are ASCII letters, digits and
// "._-", beginning with a letter or digit. (HDFS refuses a colon, Hive hides "." and "_" in front, a URI needs
// the rest escaped.)
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("refuse %s: it is empty", what)
	}
	if len(name) > maxName {
		return fmt.Errorf("refuse %s %.32q...: %d bytes, at most %d", what, name, len(name), maxName)
	}
	for i := range len(name) {
		if !alphanumeric(name[i]) && (i == 0 || !strings.ContainsRune("._-", rune(name[i]))) {
			return fmt.Errorf("refuse %s %q: use letters, digits and ._- only, beginning with a letter or digit", what, name)
		}
	}
	return nil
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
