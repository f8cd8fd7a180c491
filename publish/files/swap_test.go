package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/loadctl/loadctl/publish"
)

// dirs makes fresh and target with a file of that name in each, and names old.
func dirs(t *testing.T, names ...string) (fresh, target, old string) {
	t.Helper()
	root := t.TempDir()
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(root, n), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, n, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "fresh"), filepath.Join(root, "target"), filepath.Join(root, "old")
}

func holds(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// Both ways to swap do the same; the second is for systems without the first.
func TestSwap(t *testing.T) {
	for name, swap := range map[string]func(fresh, target, old string) error{"one step": swap, "two renames": swapRename} {
		t.Run(name, func(t *testing.T) {
			fresh, target, old := dirs(t, "fresh", "target")
			if err := swap(fresh, target, old); err != nil {
				t.Fatal(err)
			}
			if !holds(target, "fresh") || holds(target, "target") {
				t.Error("the target was not replaced")
			}
			fresh, target, old = dirs(t, "fresh")
			if err := swap(fresh, target, old); err != nil || !holds(target, "fresh") {
				t.Errorf("a partition that is new: %v", err)
			}
			fresh, target, old = dirs(t, "target")
			if err := swap(fresh, target, old); swapOutcome(err) != publish.ErrRefused || !holds(target, "target") {
				t.Errorf("fresh was fenced away: %v, want a refusal and the old target", err)
			}
		})
	}
}

func TestSwapOutcome(t *testing.T) {
	if got := swapOutcome(errors.Join(errDamaged, os.ErrNotExist)); got != publish.ErrUnknown {
		t.Errorf("a damaged target is %v, want ErrUnknown", got)
	}
	if got := swapOutcome(errors.New("answer lost")); got != publish.ErrUnknown {
		t.Errorf("an unknown error is %v, want ErrUnknown", got)
	}
}

// The characters are those of Hive's FileUtils.escapePathName; the forms were read off a real Hive.
func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"2026-09-28":           "2026-09-28",
		"it's":                 "it%27s",
		`a\`:                   "a%5C",
		"a;b":                  "a;b",
		"x'); DROP TABLE t;--": "x%27); DROP TABLE t;--",
		"한글/%25":               "한글%2F%2525",
		"a=b:c\n":              "a%3Db%3Ac%0A",
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}
