package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
)

// kinds are the two worlds that every end-to-end test of the main job runs in.
var kinds = []string{"embedded", "hive"}

// inEach runs a test in both worlds.
func inEach(t *testing.T, f func(t *testing.T, w *scenario.World)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { f(t, newWorld(t, kind)) })
	}
}

// newWorld starts a world with a migrated ledger, on the PostgreSQL that all tests of this binary share.
func newWorld(t *testing.T, kind string) *scenario.World {
	t.Helper()
	return startWorld(t, kind, scenario.Options{})
}

func startWorld(t *testing.T, kind string, o scenario.Options) *scenario.World {
	t.Helper()
	o.Dir, o.Postgres = t.TempDir(), cluster(t)
	if kind == "hive" {
		o.Stack = rig.Shared(t)
	}
	w, err := scenario.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close the world: %v", err)
		}
	})
	if got := loadctl(t, w, "migrate"); got.code != 0 {
		t.Fatalf("migrate: %s", got)
	}
	return w
}

// cluster is the PostgreSQL of this test binary.
func cluster(t *testing.T) *ledgertest.Cluster {
	t.Helper()
	return ledgertest.New(t).Cluster
}

// output is what a command printed and how it ended.
type output struct {
	code           int
	stdout, stderr string
}

func (o output) String() string {
	return "exit " + string(rune('0'+o.code%10)) + "\nstdout: " + o.stdout + "\nstderr: " + o.stderr
}

// program is the real loadctl, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loadctl-bin-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "loadctl")
	out, err := exec.Command("go", "build", "-o", name, "../cmd/loadctl").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return name, nil
})

// TestMain removes the program that program has built.
func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(name)) // a temporary directory
	}
	os.Exit(code)
}

// command makes a command line of the real loadctl in a world.
func command(t *testing.T, w *scenario.World, args ...string) *exec.Cmd {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatalf("build loadctl: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "LOADCTL_CONFIG="+w.Config, "NO_COLOR=1")
	return cmd
}

// loadctl runs the real loadctl to its end.
func loadctl(t *testing.T, w *scenario.World, args ...string) output {
	t.Helper()
	cmd := command(t, w, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("loadctl %s: %v", strings.Join(args, " "), err)
	}
	return output{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// newEnv builds the pipeline's environment, for tests that wrap a port.
func newEnv(t *testing.T, w *scenario.World) *pipeline.Env {
	t.Helper()
	env, closeAll, err := w.Env(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeAll(); err != nil {
			t.Errorf("close the environment: %v", err)
		}
	})
	return env
}

// runJob submits a job and drives it in this process until it is over or waits for a person.
func runJob(t *testing.T, env *pipeline.Env, job *pipeline.Job, s pipeline.Submission) ledger.Run {
	t.Helper()
	run, err := env.Submit(t.Context(), job, s)
	if err != nil {
		t.Fatal(err)
	}
	return drive(t, env, run.ID)
}

func drive(t *testing.T, env *pipeline.Env, id uuid.UUID) ledger.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	engine := pipeline.Engine{Env: env, Only: id}
	if err := engine.Run(ctx, ctx); err != nil {
		t.Fatalf("drive run %s: %v", id, err)
	}
	run, err := env.Ledger.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// latest reads the newest run of a world.
func latest(t *testing.T, w *scenario.World) ledger.Run {
	t.Helper()
	run, err := open(t, w).Find(t.Context(), ledger.RefLatest)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func open(t *testing.T, w *scenario.World) *ledger.Ledger {
	t.Helper()
	return w.Ledger.Open(t, ledger.Config{MaxConns: 2})
}

// wantTarget compares the target with the image of the table at an SCN.
func wantTarget(t *testing.T, w *scenario.World, scn string) {
	t.Helper()
	want, err := w.Image(scn)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.TargetLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := scenario.Difference(want, got); diff != "" {
		t.Errorf("the target is not the table at SCN %s: %s", scn, diff)
	}
	if len(want) == 0 {
		t.Error("the image is empty: the comparison shows nothing")
	}
}
