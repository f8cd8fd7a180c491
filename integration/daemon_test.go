package integration

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
)

// TestDaemons: two daemons on one ledger do a run that was only created, and stop politely.
func TestDaemons(t *testing.T) {
	w := newWorld(t, "embedded")
	loadd := filepath.Join(t.TempDir(), "loadd")
	if out, err := exec.Command("go", "build", "-o", loadd, "../cmd/loadd").CombinedOutput(); err != nil {
		t.Fatalf("build loadd: %v\n%s", err, out)
	}
	var daemons [2]*exec.Cmd
	var logs [2]bytes.Buffer
	for i := range daemons {
		daemons[i] = exec.CommandContext(t.Context(), loadd, "--config", w.Config)
		daemons[i].Stderr = &logs[i]
		if err := daemons[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date, "--detach"); got.code != 0 || !strings.Contains(got.stdout, "accepted") {
		t.Fatalf("run --detach: %s", got)
	}
	if got := loadctl(t, w, "wait", "latest", "--for", "verified", "--timeout", "2m"); got.code != 0 {
		t.Fatalf("wait: %s", got)
	}
	run := latest(t, w)
	if run.State != ledger.Success {
		t.Errorf("run is %s, want SUCCESS: a wait must not return before", run.State)
	}
	wantTarget(t, w, run.SCN)
	for i, d := range daemons {
		if err := d.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := d.Wait(); err != nil {
			t.Errorf("loadd %d: %v\n%s", i, err, &logs[i])
		}
	}
}
