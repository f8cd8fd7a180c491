package config

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Secret is a reference to a password: ${env:NAME} or ${file:/path}. The password itself is read when Reveal is
// called and kept nowhere; whatever prints, logs or encodes a Secret shows the reference. The zero Secret is
// no password.
type Secret struct{ scheme, name string }

var secretReference = regexp.MustCompile(`^\$\{(env|file):([^{}]*)\}$`)

// maxSecretFile bounds what is read from a secret's file, in bytes.
const maxSecretFile = 64 << 10

// UnmarshalText reads a reference. A literal is refused and never repeated in the error.
func (s *Secret) UnmarshalText(text []byte) error {
	m := secretReference.FindSubmatch(text)
	if m == nil {
		return refuse("a secret is written here, not a reference").hint("write ${env:NAME} or ${file:/path}, and change the secret if this file was shared")
	}
	scheme, name := string(m[1]), string(m[2])
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return refuse("the reference names nothing").hint("write ${env:NAME} or ${file:/path}")
	case scheme == "env" && strings.ContainsAny(name, "= \x00"):
		return refuse("the reference names no environment variable").hint("write ${env:NAME}")
	case scheme == "file" && !filepath.IsAbs(name):
		return refuse("the file of a secret must be absolute, not %q", name).hint("write ${file:/path}")
	}
	*s = Secret{scheme, name}
	return nil
}

// IsZero says that there is no secret.
func (s Secret) IsZero() bool { return s == Secret{} }

// Reveal reads the secret. One newline at the end of a file is no part of it. The error names the reference.
func (s Secret) Reveal() (string, error) {
	switch s.scheme {
	case "env":
		v, ok := os.LookupEnv(s.name)
		if !ok || v == "" {
			return "", fmt.Errorf("read secret %s: the environment variable is not set", s)
		}
		return v, nil
	case "file":
		return s.readFile()
	}
	return "", nil
}

func (s Secret) readFile() (string, error) {
	f, err := os.Open(s.name)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	defer f.Close()
	if _, err := s.exposure(f); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	v := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	switch {
	case len(b) > maxSecretFile:
		return "", fmt.Errorf("read secret %s: the file is larger than %d bytes", s, maxSecretFile)
	case v == "":
		return "", fmt.Errorf("read secret %s: the file is empty", s)
	}
	return v, nil
}

// exposure tells who else can reach the file: an error when others may write it (then the secret is theirs to
// choose), a warning when everybody may read it. That the group may read is the packaged set-up (0640) and
// containers mount secrets world-readable inside their own file system, so that reading alone never refuses.
func (s Secret) exposure(f *os.File) (warning string, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	mode := info.Mode()
	switch {
	case !mode.IsRegular():
		return "", fmt.Errorf("read secret %s: not a regular file", s)
	case mode.Perm()&0o022 != 0:
		return "", fmt.Errorf("read secret %s: group or others may write the file (mode %04o; chmod 0640)", s, mode.Perm())
	case mode.Perm()&0o004 != 0:
		return fmt.Sprintf("everybody on this host may read the file (mode %04o)", mode.Perm()), nil
	}
	return "", nil
}

// String is the reference.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return "${" + s.scheme + ":" + s.name + "}"
}

// GoString is the reference too.
func (s Secret) GoString() string { return s.String() }

// MarshalText is the reference.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is the reference.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
