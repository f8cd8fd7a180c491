package hdfs_test

import (
	"context"
	"crypto/rand"
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

func TestConformance(t *testing.T) {
	stack := rig.SharedParts(t, rig.HDFS)
	stagetest.Run(t, func(t *testing.T) stage.Store { return open(t, options(t, stack)) })
}
