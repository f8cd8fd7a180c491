package ledgertest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func tempCluster(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lct") // not t.TempDir: its parents are closed to the server's user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestClusterStopsAndRestartsWithItsData(t *testing.T) {
	dir := tempCluster(t)
	c, err := StartCluster(dir, ClusterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, "CREATE TABLE kept (n int)")
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Fatalf("postmaster %d after Stop: %v, want no such process", c.PID(), err)
	}
	again, err := StartCluster(dir, ClusterOptions{Outlive: true})
	if err != nil {
		t.Fatal(err)
	}
	run(t, again, "INSERT INTO kept VALUES (1)")
	warm, err := StartCluster(dir, ClusterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if warm.PID() != again.PID() {
		t.Fatalf("second start made pid %d, want the running %d", warm.PID(), again.PID())
	}
	if err := StopCluster(dir); err != nil {
		t.Fatal(err)
	}
}

func TestClusterRemovesItsDirectory(t *testing.T) {
	dir := tempCluster(t)
	c, err := StartCluster(dir, ClusterOptions{RemoveDir: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/data"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("stat data directory after Stop: %v, want not exist", err)
	}
}

func run(t *testing.T, c *Cluster, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.AdminDSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}
