package hive_test

import (
	"context"
	"crypto/rand"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/publish/publishtest"
	"github.com/loadctl/loadctl/stage/hdfs"
	"github.com/loadctl/loadctl/stage/parquet"
)

// real is a warehouse on the rig's Hive with a database and a folder of its own, removed afterwards.
type real struct {
	publishtest.Harness
	hs2   hs2.Config
	hive  *hive.Warehouse
	admin *hs2.Session
}

func newReal(t *testing.T) real {
	t.Helper()
	stack := rig.Shared(t)
	id := strings.ToLower(rand.Text()[:12])
	folder := "/user/" + stack.HDFS.User + "/publish-" + id
	root := store(t, hdfs.Options{NameNodes: []string{stack.HDFS.NameNode}, User: stack.HDFS.Superuser, Root: "/"})
	staged := store(t, hdfs.Options{NameNodes: []string{stack.HDFS.NameNode}, User: stack.HDFS.User, Root: folder, FileMode: 0o644, DirMode: 0o755})
	if err := staged.MkdirAll(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	cfg := hs2.Config{Address: stack.Hive.Instance, Auth: hs2.Auth(stack.Hive.Auth), User: stack.Hive.User, Password: stack.Hive.Password}
	// column statistics would double the time of an INSERT of a few rows
	settings := map[string]string{"hive.stats.column.autogather": "false"}
	w, err := hive.New(hive.Config{HS2: cfg, Lister: root, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := hs2.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := real{hs2: cfg, hive: w, admin: admin,
		Harness: publishtest.Harness{Warehouse: w, Store: staged, Format: parquet.Format{}, Database: "publish_" + id}}
	warehouse := strings.TrimPrefix(r.rows(t, "DESCRIBE DATABASE `default`")[0][2].Text, "hdfs://"+stack.HDFS.NameNode+"/")
	r.rows(t, "CREATE DATABASE "+r.Database)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.Close(); err != nil {
			t.Errorf("close warehouse: %v", err)
		}
		if _, err := ask(ctx, admin, "DROP DATABASE "+r.Database+" CASCADE"); err != nil {
			t.Error(err)
		}
		if err := admin.Close(ctx); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{folder[1:], path.Join(warehouse, r.Database+".db")} {
			if err := root.Remove(ctx, dir); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

func store(t *testing.T, o hdfs.Options) *hdfs.Store {
	t.Helper()
	s, err := hdfs.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rows runs a statement of the test's own.
func (r real) rows(t *testing.T, statement string) [][]hs2.Value {
	t.Helper()
	rows, err := ask(t.Context(), r.admin, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return rows
}

func ask(ctx context.Context, s *hs2.Session, statement string) ([][]hs2.Value, error) {
	o, err := s.Execute(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	if _, err := o.Wait(ctx, nil); err != nil {
		return nil, err
	}
	rows, err := o.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return rows, o.Close(ctx)
}

func TestConformance(t *testing.T) { publishtest.Run(t, newReal(t).Harness) }
