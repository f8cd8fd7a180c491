package ledgertest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// findBinaries returns the directory that holds initdb and postgres: the one on PATH, else Debian's newest.
func findBinaries() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil && isFile(filepath.Join(filepath.Dir(real), "postgres")) {
			return filepath.Dir(real), nil
		}
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("find postgres: %w", err)
	}
	sort.Slice(dirs, func(i, j int) bool { return majorOf(dirs[i]) > majorOf(dirs[j]) })
	for _, d := range dirs {
		if isFile(filepath.Join(d, "initdb")) && isFile(filepath.Join(d, "postgres")) {
			return d, nil
		}
	}
	return "", errors.New("find postgres: initdb and postgres are neither on PATH nor under /usr/lib/postgresql; " +
		"install PostgreSQL 14 or newer (Debian: apt-get install postgresql)")
}

func majorOf(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

func isFile(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular()
}

// credential is the user that the server runs as; nil means ourselves.
type credential struct{ uid, gid int }

// serverUser is nil unless we are root; then it is the user postgres, else nobody.
func serverUser() (*credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("look up user %s: %w", name, err)
		}
		return &credential{uid: uid, gid: gid}, nil
	}
	return nil, errors.New("start postgres: it refuses to run as root, and there is neither a user postgres nor nobody to run it as")
}

// apply makes cmd run as the user, in a working directory that it may enter.
func (c *credential) apply(cmd *exec.Cmd) {
	if c == nil {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.uid), Gid: uint32(c.gid)}
}

func (c *credential) own(path string) error {
	if c == nil {
		return nil
	}
	if err := os.Chown(path, c.uid, c.gid); err != nil {
		return fmt.Errorf("give %s to the server's user: %w", path, err)
	}
	return nil
}

// write makes a file that only the server's user (and root) can read.
func (c *credential) write(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return c.own(path)
}

// freePort asks the kernel for a port on the loopback interface that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// livePostmaster reads postmaster.pid of dir. A file left by a server that is gone does not count.
func livePostmaster(dir string) (int, bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		return 0, false
	}
	return pid, alive(pid)
}

// alive says whether a process runs. One that has ended and whose parent has not asked for it yet (a zombie) does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return errors.Is(err, syscall.EPERM)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no /proc on this system: the signal has to do
	}
	_, fields, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " ")
	return !strings.HasPrefix(fields, "Z") && !strings.HasPrefix(fields, "X")
}
