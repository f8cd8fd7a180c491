package hdfs_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/hdfs"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// options are those of a store in a folder of its own on the rig's HDFS, which is removed afterwards.
func options(t *testing.T, stack *rig.Stack) hdfs.Options {
	o := hdfs.Options{
		NameNodes: []string{stack.HDFS.NameNode}, User: stack.HDFS.User, BlockSize: 1 << 20,
		Root: "/user/" + stack.HDFS.User + "/test-" + rand.Text(),
	}
	parent := o
	parent.Root = "/user/" + stack.HDFS.User
	s := open(t, parent)
	name := o.Root[len(parent.Root)+1:]
	if err := s.MkdirAll(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Remove(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
	return o
}

func open(t *testing.T, o hdfs.Options) *hdfs.Store {
	t.Helper()
	s, err := hdfs.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t *testing.T, s stage.Store, name, content string) {
	t.Helper()
	f, err := s.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	stack := rig.SharedParts(t, rig.HDFS)
	stagetest.Run(t, func(t *testing.T) stage.Store { return open(t, options(t, stack)) })
}

// Files are closed to strangers, and Hive, which is in the directory's group, reads them.
func TestPermissions(t *testing.T) {
	stack := rig.SharedParts(t, rig.HDFS)
	o := options(t, stack)
	o.Root = "/stage/test-" + rand.Text()
	s := open(t, o)
	t.Cleanup(func() {
		parent := o
		parent.Root = "/stage"
		if err := open(t, parent).Remove(context.Background(), o.Root[len("/stage/"):]); err != nil {
			t.Error(err)
		}
	})
	put(t, s, "d/f", "rows")
	read := func(user string) error {
		as := o
		as.User = user
		c, err := open(t, as).Open(t.Context(), "d/f")
		if err != nil {
			return err
		}
		p := make([]byte, 4)
		_, err = c.ReadAt(p, 0)
		return errors.Join(err, c.Close())
	}
	if err := read("hive"); err != nil {
		t.Errorf("hive: %v", err)
	}
	err := read("stranger")
	if !errors.Is(err, stage.ErrPermission) || !strings.Contains(err.Error(), "user stranger") {
		t.Errorf("a stranger: got %v, want ErrPermission naming the user", err)
	}
	as := o
	as.User = "stranger"
	if _, err := open(t, as).Create(t.Context(), "d/g"); !errors.Is(err, stage.ErrPermission) {
		t.Errorf("a stranger creates: got %v, want ErrPermission", err)
	}
}
