package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// A MissingError names programs that the rig needs and this machine lacks.
type MissingError struct {
	Programs []string // as called, such as "mvn"
	Packages []string // the Debian packages that bring them
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("find %s: not on this machine; on Debian, as root: apt-get install -y %s (integration/rig/prepare.sh does it)",
		strings.Join(e.Programs, ", "), strings.Join(e.Packages, " "))
}

// tools are the programs of other people that the rig runs.
type tools struct {
	java, javac, mvn string
	initdb, postgres string
}

// findTools looks up everything that the parts need, and reports all that is missing at once.
func findTools(parts Part) (tools, error) {
	var t tools
	var missing MissingError
	want := func(path *string, name, pkg string, find func(string) (string, error)) {
		var err error
		if *path, err = find(name); err != nil {
			missing.Programs = append(missing.Programs, name)
			if len(missing.Packages) == 0 || missing.Packages[len(missing.Packages)-1] != pkg {
				missing.Packages = append(missing.Packages, pkg)
			}
		}
	}
	if parts&Postgres != 0 {
		want(&t.initdb, "initdb", "postgresql", findPostgres)
		want(&t.postgres, "postgres", "postgresql", findPostgres)
	}
	if parts&(HDFS|Hive) != 0 {
		want(&t.java, "java", "openjdk-17-jdk-headless", findJava)
		want(&t.javac, "javac", "openjdk-17-jdk-headless", findJava)
		want(&t.mvn, "mvn", "maven", exec.LookPath)
	}
	if missing.Programs != nil {
		return t, &missing
	}
	return t, nil
}

// findJava prefers JAVA_HOME, as Maven does.
func findJava(name string) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return exec.LookPath(filepath.Join(home, "bin", name))
	}
	return exec.LookPath(name)
}

// findPostgres takes the newest server that Debian's packages installed, else what is on the PATH.
func findPostgres(name string) (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	version := func(dir string) int {
		v, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		return v
	}
	sort.Slice(dirs, func(i, j int) bool { return version(dirs[i]) > version(dirs[j]) })
	for _, d := range dirs {
		if p, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return p, nil
		}
	}
	return exec.LookPath(name)
}

// An account is an operating system user to run a daemon as.
type account struct{ uid, gid uint32 }

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// unprivileged returns whom to run PostgreSQL as: it refuses to be root. Nil means the caller, who is not root.
func unprivileged() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read ids of user %s: %w", name, err)
		}
		return &account{uint32(uid), uint32(gid)}, nil
	}
	return nil, errors.New("find a user to run PostgreSQL as: it refuses to run as root, and there is neither postgres nor nobody")
}
