package rig

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// maven holds one pom for each set of jars.
//
//go:embed maven/*.xml
var maven embed.FS

//go:embed auth/FileAuth.java
var fileAuth []byte

// An ArtifactError names the pinned artifacts that could not be downloaded.
type ArtifactError struct {
	Artifacts []string // group:artifact:type:version, as Maven prints them; empty when Maven failed otherwise
	Log       string   // path of Maven's full output
	Output    string   // its last lines
}

func (e *ArtifactError) Error() string {
	if len(e.Artifacts) == 0 {
		return fmt.Sprintf("download artifacts: maven failed, see %s:\n%s", e.Log, e.Output)
	}
	return fmt.Sprintf("download artifacts: cannot get %s (maven's output: %s)", strings.Join(e.Artifacts, ", "), e.Log)
}

// An artifacts is the folder of downloads, .cache/jars: one folder for each set, named by the digest of what made it,
// so that another pom never meets yesterday's jars.
type artifacts struct {
	dir   string
	tools tools
}

// jars returns the folder of the jars that the pom of this name lists, downloading them at first.
func (a artifacts) jars(ctx context.Context, name string) (string, error) {
	pom, err := maven.ReadFile("maven/" + name + ".xml")
	if err != nil {
		return "", fmt.Errorf("read pom: %w", err)
	}
	return a.once(ctx, name, pom, func(dir string) error {
		file := filepath.Join(a.dir, name+".pom.xml")
		if err := os.WriteFile(file, pom, 0o644); err != nil {
			return fmt.Errorf("write pom: %w", err)
		}
		return a.mvn(ctx, filepath.Join(a.dir, name+".log"),
			"-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+dir)
	})
}

// schema returns the metastore's SQL for PostgreSQL.
func (a artifacts) schema(ctx context.Context) ([]byte, error) {
	dir, err := a.jars(ctx, "schema")
	if err != nil {
		return nil, err
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if len(found) != 1 {
		return nil, fmt.Errorf("find the metastore's archive in %s: %d archives", dir, len(found))
	}
	return untar(found[0], "/scripts/metastore/upgrade/postgres/hive-schema-4.0.0.postgres.sql")
}

// untar returns the one file in a .tar.gz whose name ends in suffix.
func untar(archive, suffix string) ([]byte, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", archive, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("find %s in %s: %w", suffix, archive, err)
		}
		if strings.HasSuffix(h.Name, suffix) {
			return io.ReadAll(r)
		}
	}
}

// authClasses returns the folder with the compiled password check, for a class path.
func (a artifacts) authClasses(ctx context.Context, hiveJars string) (string, error) {
	return a.once(ctx, "auth", fileAuth, func(dir string) error {
		src := filepath.Join(a.dir, "FileAuth.java")
		if err := os.WriteFile(src, fileAuth, 0o644); err != nil {
			return fmt.Errorf("write source: %w", err)
		}
		out, err := exec.CommandContext(ctx, a.tools.javac, "-cp", hiveJars+"/*", "-d", dir, src).CombinedOutput()
		if err != nil {
			return fmt.Errorf("compile %s: %w: %s", src, err, out)
		}
		return nil
	})
}

// once makes the folder of name and content with fill, unless it is there already. A folder appears under its name
// only when it is whole; of several processes, one fills it and the others wait.
func (a artifacts) once(ctx context.Context, name string, content []byte, fill func(dir string) error) (string, error) {
	dir := filepath.Join(a.dir, name+"-"+digest(content))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	l, err := acquire(ctx, filepath.Join(a.dir, "lock"), exclusive)
	if err != nil {
		return "", err
	}
	defer l.release()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", fmt.Errorf("clear half-made folder: %w", err)
	}
	if err := os.MkdirAll(part, 0o755); err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	if err := fill(part); err != nil {
		return "", err
	}
	if err := os.Rename(part, dir); err != nil {
		return "", fmt.Errorf("finish folder: %w", err)
	}
	return dir, nil
}

// mvn runs Maven; the local repository stays the user's own. -U asks again for what could not be had a while ago.
func (a artifacts) mvn(ctx context.Context, log string, args ...string) error {
	cmd := exec.CommandContext(ctx, a.tools.mvn, append([]string{"-B", "-q", "-U", "-Dstyle.color=never"}, args...)...)
	out, err := cmd.CombinedOutput()
	if werr := os.WriteFile(log, out, 0o644); werr != nil {
		return fmt.Errorf("write log: %w", werr)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("download artifacts: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("run maven: %w", err)
	}
	return &ArtifactError{Artifacts: unresolved(string(out)), Log: log, Output: lastLines(string(out))}
}

// coordinates matches group:artifact:type[:classifier]:version after the words with which Maven 3 introduces an
// artifact that it could not get.
var coordinates = regexp.MustCompile(`(?:find artifact|transfer artifact|be resolved:|read artifact descriptor for) ((?:[\w.-]+(?::[\w.-]+){3,4}(?: \([a-z]+\))?(?:, )?)+)`)

// unresolved picks the artifacts that Maven could not get out of its output, sorted.
func unresolved(output string) []string {
	seen := map[string]bool{}
	var names []string
	for _, m := range coordinates.FindAllStringSubmatch(output, -1) {
		for _, name := range strings.Split(m[1], ", ") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			if name != "" && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}

// digest shortens content to a name.
func digest(content ...[]byte) string {
	h := sha256.New()
	for _, c := range content {
		fmt.Fprintf(h, "%d:", len(c))
		h.Write(c)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
