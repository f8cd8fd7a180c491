package rig

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed requirements.txt
var requirements []byte

// Python returns the path of a Python interpreter that has what requirements.txt lists: pyarrow and duckdb, the referees
// of what loadctl writes, and python-oracledb. It makes the environment in .cache/venv at first, and fails the test when it cannot.
func Python(t TB) string {
	t.Helper()
	return installed(t, Referees)
}

// installed is what install finds or makes below the module's folder, in .cache; the test fails when it cannot.
func installed[T any](t TB, install func(ctx context.Context, root string) (T, error)) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), sharedPatience)
	defer cancel()
	root, err := Root()
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	what, err := install(ctx, root)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	return what
}

// Referees is Python for callers that are no tests; root is the module's folder.
func Referees(ctx context.Context, root string) (string, error) {
	dir := filepath.Join(root, ".cache", "venv")
	python := filepath.Join(dir, "bin", "python")
	// An environment cannot be moved, so it is made in its place; the marker says that it is whole, and of what.
	marker := filepath.Join(dir, "made-from")
	if made(marker) {
		return python, nil
	}
	l, err := acquire(ctx, dir+".lock", exclusive)
	if err != nil {
		return "", err
	}
	defer l.release()
	if made(marker) {
		return python, nil
	}
	python3, err := exec.LookPath("python3")
	if err != nil {
		return "", &MissingError{[]string{"python3"}, []string{"python3-venv"}}
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear half-made python environment: %w", err)
	}
	for _, c := range [][]string{
		{python3, "-m", "venv", dir},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", filepath.Join(root, "integration/rig/requirements.txt")},
	} {
		if out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("make python environment (Debian's package python3-venv): run %s: %w\n%s", c[2], err, lastLines(string(out)))
		}
	}
	if err := replaceFile(marker, []byte(digest(requirements)), 0o644); err != nil {
		return "", err
	}
	return python, nil
}

func made(marker string) bool {
	b, err := os.ReadFile(marker)
	return err == nil && string(b) == digest(requirements)
}
