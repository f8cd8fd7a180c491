package ledgertest

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

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
	stacks := make([]byte, 1<<20)
	if s := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(s, "(*Cluster)") {
		t.Fatalf("a goroutine waits for a server that outlives us:\n%s", s)
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

func TestClusterSaysWhyItDidNotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := tempCluster(t)
	_, err = StartCluster(dir, ClusterOptions{Port: taken.Addr().(*net.TCPAddr).Port, RemoveDir: true})
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Fatalf("start on a taken port: %v, want the server's own reason", err)
	}
	c, err := StartCluster(dir, ClusterOptions{}) // the directory remembers the taken port, so another is found
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
}

// A server that was killed and whose parent has not asked for it yet is gone all the same.
func TestZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !alive(cmd.Process.Pid) {
		t.Fatal("a running process is not alive")
	}
	in.Close() // it ends now; only Wait would take it away
	for deadline := time.Now().Add(10 * time.Second); alive(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process that has ended is still alive")
		}
	}
	if err := syscall.Kill(cmd.Process.Pid, 0); err != nil {
		t.Fatalf("signal to the zombie: %v, want it to be there still", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("read of a closed input succeeded")
	}
}
