package local_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/local"
	"github.com/loadctl/loadctl/stage/stagetest"
)

func open(t *testing.T, o local.Options) *local.Store {
	t.Helper()
	s, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, func(t *testing.T) stage.Store { return open(t, local.Options{Root: t.TempDir()}) })
}

// Modes are those of the options, whatever the umask.
func TestModes(t *testing.T) {
	for _, tc := range []struct {
		opt       local.Options
		file, dir fs.FileMode
	}{
		{local.Options{}, 0o640, 0o750},
		{local.Options{FileMode: 0o666, DirMode: 0o777}, 0o666, 0o777},
	} {
		tc.opt.Root = filepath.Join(t.TempDir(), "new", "root")
		f, err := open(t, tc.opt).Create(t.Context(), "d/f")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"d/f": tc.file, "d": tc.dir | fs.ModeDir, ".": tc.dir | fs.ModeDir} {
			info, err := os.Stat(filepath.Join(tc.opt.Root, name))
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
			}
		}
	}
}

// Until Close has returned, nothing has the file's name; afterwards nothing is left of its making.
func TestFileAppearsWhole(t *testing.T) {
	root := t.TempDir()
	f, err := open(t, local.Options{Root: root}).Create(t.Context(), "d/f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, "d", "f")); !os.IsNotExist(err) {
		t.Errorf("before Close: got %v, want that it does not exist", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(root, ".loadctl-tmp", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("after Close there are %v, %v", left, err)
	}
}

func TestIdentity(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	direct, err1 := open(t, local.Options{Root: root}).Identity(t.Context())
	linked, err2 := open(t, local.Options{Root: link}).Identity(t.Context())
	other, err3 := open(t, local.Options{Root: t.TempDir()}).Identity(t.Context())
	if err1 != nil || err2 != nil || err3 != nil || direct != linked || direct == other {
		t.Errorf("identities are %q, %q by a link, %q of another root; %v %v %v", direct, linked, other, err1, err2, err3)
	}
	host, err := os.Hostname()
	if err != nil || !strings.Contains(direct, host) {
		t.Errorf("identity %q does not name host %q, %v", direct, host, err)
	}
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"", file, filepath.Join(file, "below")} {
		if _, err := local.New(local.Options{Root: root}); err == nil {
			t.Errorf("New accepts root %q", root)
		}
	}
}

// TestDeadDraftsGo: what a process that died was writing goes a day later, what another one writes stays.
func TestDeadDraftsGo(t *testing.T) {
	root := t.TempDir()
	s, err := local.New(local.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	drafts := func() []string {
		names, err := filepath.Glob(filepath.Join(root, ".loadctl-tmp", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if _, err := s.Create(t.Context(), "dead"); err != nil {
		t.Fatal(err)
	}
	dead := drafts()
	old := time.Now().Add(-25 * time.Hour)
	if len(dead) != 1 || os.Chtimes(dead[0], old, old) != nil {
		t.Fatalf("drafts %v, want one", dead)
	}
	f, err := s.Create(t.Context(), "alive")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.MkdirAll(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if left := drafts(); len(left) != 1 || left[0] == dead[0] {
		t.Fatalf("drafts %v are left, want only the one that is written to", left)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
