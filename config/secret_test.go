package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func secret(t *testing.T, reference string) Secret {
	t.Helper()
	var s Secret
	if err := s.UnmarshalText([]byte(reference)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecretReveals(t *testing.T) {
	t.Setenv("LOADCTL_TEST_SECRET", "hunter2")
	if got, err := secret(t, "${env:LOADCTL_TEST_SECRET}").Reveal(); err != nil || got != "hunter2" {
		t.Errorf("got %q, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "p")
	for content, want := range map[string]string{"hunter2": "hunter2", "hunter2\n": "hunter2", "hunter2\r\n": "hunter2", "a b \n\n": "a b \n"} {
		writeSecret(t, file, content, 0o600)
		if got, err := secret(t, "${file:"+file+"}").Reveal(); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", content, got, err, want)
		}
	}
}

func writeSecret(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

func TestSecretRefuses(t *testing.T) {
	for _, in := range []string{"hunter2", "${env:}", "${file:}", "${file:p}", "${vault:x}", "${env:A B}", "x${env:A}", "${env:A}x", "$A", "${env: A}"} {
		var s Secret
		err := s.UnmarshalText([]byte(in))
		if err == nil {
			t.Errorf("%q is accepted", in)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q is repeated: %v", in, err)
		}
	}
}

// Neither the secret nor anything but its reference comes out of any way to print or encode.
func TestSecretIsNeverPrinted(t *testing.T) {
	t.Setenv("LOADCTL_TEST_SECRET", "hunter2")
	s := secret(t, "${env:LOADCTL_TEST_SECRET}")
	if _, err := s.Reveal(); err != nil {
		t.Fatal(err)
	}
	l := Ledger{Password: s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "ledger", l)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "ledger", l)
	js, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %v %#v", s, s, s, s, s, l, l) + log.String() + string(js)
	if strings.Contains(all, "hunter2") {
		t.Errorf("the secret is printed: %s", all)
	}
	if n := strings.Count(all, "${env:LOADCTL_TEST_SECRET}"); n < 10 {
		t.Errorf("the reference is printed %d times only: %s", n, all)
	}
}

func TestCheckSecrets(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]string{"open": filepath.Join(dir, "open"), "loose": filepath.Join(dir, "loose"), "empty": filepath.Join(dir, "empty")}
	writeSecret(t, paths["open"], "hunter2", 0o644)
	writeSecret(t, paths["loose"], "hunter2", 0o660)
	writeSecret(t, paths["empty"], "\n", 0o600)
	source := func(name, ref string) string {
		return "  " + name + ": {host: o, service: s, user: u, password: \"" + ref + "\"}\n"
	}
	c := mustLoad(t, "ledger: {host: db}\nsources:\n"+
		source("a", "${env:LOADCTL_TEST_UNSET}")+source("b", "${file:"+paths["open"]+"}")+
		source("c", "${file:"+paths["loose"]+"}")+source("d", "${file:"+paths["empty"]+"}")+source("e", "${file:"+dir+"/none}")+
		"store: {local: {root: /s}}\nwarehouse: {files: {root: /w}}\n", nil)
	warnings, err := c.CheckSecrets()
	if len(warnings) != 1 || warnings[0].Line != 4 || !strings.Contains(warnings[0].Message, "everybody on this host may read") {
		t.Errorf("warnings: %v", warnings)
	}
	if err == nil {
		t.Fatal("no error")
	}
	wants := []string{":3:37: sources.a.password: read secret ${env:LOADCTL_TEST_UNSET}: the environment variable is not set",
		"group or others may write the file (mode 0660; chmod 0640)", "the file is empty", "no such file"}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(wants) {
		t.Fatalf("got %d lines, want %d:\n%v", len(lines), len(wants), err)
	}
	for i, want := range wants {
		if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "hunter2") {
			t.Errorf("got %s\nwant %s", lines[i], want)
		}
	}
}
