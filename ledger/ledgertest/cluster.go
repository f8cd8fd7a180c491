package ledgertest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Superuser is the bootstrap role of every cluster.
const Superuser = "postgres"

// startTimeout bounds the wait for a server to answer, pingTimeout one try of it, stopTimeout the wait for it to be gone.
const (
	startTimeout = 60 * time.Second
	pingTimeout  = 3 * time.Second
	stopTimeout  = 30 * time.Second
)

// ClusterOptions says how a cluster is run. The zero value suits tests.
type ClusterOptions struct {
	Port      int               // TCP port on 127.0.0.1; 0 takes a free one, or the one the directory remembers
	Durable   bool              // keep fsync and full_page_writes on; off, a crash of the machine may lose data
	Outlive   bool              // leave the server running when this process ends; StopCluster ends it
	RemoveDir bool              // delete the directory when the server stops; not together with Outlive
	Settings  map[string]string // further postgresql.conf settings, given on the command line
}

// Cluster is a running PostgreSQL server that belongs to us.
type Cluster struct {
	Dir      string // holds data, log and cluster.json
	Port     int
	Password string // of Superuser
	pid      int
	leash    *os.File // write end of the supervisor's standard input; nil if the server outlives us
	done     chan struct{}
}

// clusterFile is what a directory remembers of its cluster, in cluster.json, readable by its owner only.
type clusterFile struct {
	Port     int    `json:"port"`
	Password string `json:"password"`
}

// StartCluster starts the cluster in dir, making it first if dir is empty or absent. A server that is already
// running there is used as it is. The parent directories of dir must be open to the unprivileged user when we are root.
func StartCluster(dir string, opts ClusterOptions) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	who, err := serverUser()
	if err != nil {
		return nil, err
	}
	c, err := prepare(dir, bin, who, opts.Port)
	if err != nil {
		return nil, err
	}
	if pid, ok := livePostmaster(dir); ok {
		c.pid = pid
		return c, c.awaitReady()
	}
	if err := c.start(bin, who, opts); err != nil {
		return nil, err
	}
	c.pid, _ = livePostmaster(dir)
	return c, nil
}

// portAttempts bounds how often a free port is looked for: between finding one and listening on it, another may come.
const portAttempts = 3

// start launches the server and waits until it answers.
func (c *Cluster) start(bin string, who *credential, opts ClusterOptions) error {
	for try := 1; ; try++ {
		if err := c.launch(bin, who, opts); err != nil {
			return err
		}
		err := c.awaitReady()
		if err == nil {
			return nil
		}
		err = errors.Join(err, c.Stop())
		if opts.Port != 0 || try == portAttempts || !strings.Contains(c.logTail(), "Address already in use") {
			return err
		}
		if c.Port, err = freePort(); err != nil {
			return err
		}
		if err := c.remember(who); err != nil {
			return err
		}
	}
}

// prepare makes the data directory if there is none and reads or writes cluster.json.
func prepare(dir, bin string, who *credential, port int) (*Cluster, error) {
	c := &Cluster{Dir: dir}
	file := filepath.Join(dir, "cluster.json")
	raw, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeCluster(dir, bin, who, port)
	case err != nil:
		return nil, fmt.Errorf("read cluster: %w", err)
	}
	var f clusterFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("read cluster %s: %w", file, err)
	}
	c.Port, c.Password = f.Port, f.Password
	return c, nil
}

// makeCluster runs initdb. cluster.json is written last: a directory without it is unfinished and refused by initdb.
func makeCluster(dir, bin string, who *credential, port int) (*Cluster, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make cluster directory: %w", err)
	}
	if err := who.own(dir); err != nil {
		return nil, err
	}
	if port == 0 {
		var err error
		if port, err = freePort(); err != nil {
			return nil, err
		}
	}
	c := &Cluster{Dir: dir, Port: port, Password: rand.Text()}
	pwFile := filepath.Join(dir, "initdb.pw")
	if err := who.write(pwFile, []byte(c.Password)); err != nil {
		return nil, err
	}
	defer os.Remove(pwFile)
	cmd := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+c.data(), "--username="+Superuser, "--pwfile="+pwFile,
		"--auth-local=peer", "--auth-host=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	cmd.Dir = dir
	who.apply(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run initdb in %s: %w: %s", dir, err, strings.TrimSpace(string(out)))
	}
	return c, c.remember(who)
}

// remember writes cluster.json.
func (c *Cluster) remember(who *credential) error {
	raw, err := json.Marshal(clusterFile{Port: c.Port, Password: c.Password})
	if err != nil {
		return fmt.Errorf("write cluster: %w", err)
	}
	return who.write(filepath.Join(c.Dir, "cluster.json"), raw)
}

// supervise runs the server and stops it (fast shutdown) when standard input ends: when Stop closes the pipe, or when
// our process is gone. $1 is the directory to remove after that, or empty; the rest is the server's command. A server that
// ends by itself leaves its directory, with the log that says why.
const supervise = `remove=$1; shift
"$@" </dev/null & pid=$!
trap '' INT TERM
( cat >/dev/null; kill -INT $pid 2>/dev/null ) <&3 & watch=$!
exec 3<&-
wait $pid; rc=$?
if kill $watch 2>/dev/null; then exit $rc; fi
[ -z "$remove" ] || rm -rf "$remove"
exit $rc`

// detach starts the server in a session of its own and ends at once, telling the server's pid on descriptor 3: nobody
// has to wait for a server that outlives us.
const detach = `"$@" </dev/null 3>&- & echo $! >&3`

// launch starts the server, under the supervisor unless it is to outlive us.
func (c *Cluster) launch(bin string, who *credential, opts ClusterOptions) error {
	log, err := os.OpenFile(c.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	server := append([]string{filepath.Join(bin, "postgres")}, c.serverArgs(opts)...)
	shell := func(script string, args ...string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", append(append([]string{"-c", script, "sh"}, args...), server...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, log, log
		return cmd
	}
	if opts.Outlive {
		cmd := shell(detach)
		cmd.SysProcAttr, cmd.ExtraFiles = &syscall.SysProcAttr{Setsid: true}, []*os.File{w}
		who.apply(cmd)
		return c.runDetached(cmd, r, w)
	}
	remove := ""
	if opts.RemoveDir {
		remove = c.Dir
	}
	cmd := shell(supervise, remove)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is ours, not the server's
	cmd.ExtraFiles, c.leash = []*os.File{r}, w
	who.apply(cmd)
	defer r.Close()
	return c.runSupervised(cmd)
}

// runSupervised starts the supervisor, and one goroutine that ends with it.
func (c *Cluster) runSupervised(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start postgres in %s: %w", c.Dir, err)
	}
	c.pid, c.done = cmd.Process.Pid, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log says why; Stop and awaitReady only need to know that it is gone
		close(c.done)
	}()
	return nil
}

// runDetached runs the shell to its end and keeps the server's pid. No goroutine stays.
func (c *Cluster) runDetached(cmd *exec.Cmd, r, w *os.File) error {
	defer r.Close()
	err := cmd.Run()
	w.Close()
	if err != nil {
		return fmt.Errorf("start postgres in %s: %w", c.Dir, err)
	}
	if _, err := fmt.Fscan(r, &c.pid); err != nil {
		return fmt.Errorf("start postgres in %s: read its pid: %w", c.Dir, err)
	}
	c.done = nil
	return nil
}

// ended says whether the server that was launched is gone.
func (c *Cluster) ended() bool {
	if c.done == nil {
		return !alive(c.pid)
	}
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// serverArgs are the settings of the server. The socket directory is empty: no path length limit, no second way in.
func (c *Cluster) serverArgs(opts ClusterOptions) []string {
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.Port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "max_connections=300", "-c", "logging_collector=off"}
	if !opts.Durable {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=64MB")
	}
	for k, v := range opts.Settings {
		args = append(args, "-c", k+"="+v)
	}
	return args
}

// awaitReady returns when the server answers a query, or says why it never will.
func (c *Cluster) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := c.ping(ctx)
		if err == nil {
			return nil
		}
		if c.ended() {
			return fmt.Errorf("start postgres: the server ended at once: %s", c.logTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start postgres: no answer on port %d within %s: %w", c.Port, startTimeout, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ping connects once. Whoever else listens on our port may accept and say nothing, so each try has its own end.
func (c *Cluster) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.AdminDSN("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Stop ends the server with a fast shutdown and waits until it is gone.
func (c *Cluster) Stop() error {
	if c.leash != nil {
		if err := c.leash.Close(); err != nil {
			return fmt.Errorf("stop postgres: %w", err)
		}
		c.leash = nil
		return c.awaitGone()
	}
	return StopCluster(c.Dir)
}

func (c *Cluster) awaitGone() error {
	select {
	case <-c.done:
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("stop postgres: pid %d did not end within %s", c.pid, stopTimeout)
	}
}

// StopCluster ends the server of dir, if one runs, whoever started it.
func StopCluster(dir string) error {
	pid, ok := livePostmaster(dir)
	if !ok {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return fmt.Errorf("stop postgres pid %d: %w", pid, err)
	}
	for deadline := time.Now().Add(stopTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if now, ok := livePostmaster(dir); !ok || now != pid {
			return nil
		}
	}
	return fmt.Errorf("stop postgres: pid %d did not end within %s", pid, stopTimeout)
}

// DSN is a connection string to database db on this cluster.
func (c *Cluster) DSN(user, password, db string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Path: "/" + db,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)), RawQuery: "sslmode=disable"}
	return u.String()
}

// AdminDSN connects to database db as the superuser.
func (c *Cluster) AdminDSN(db string) string { return c.DSN(Superuser, c.Password, db) }

// PID is the process id of the postmaster.
func (c *Cluster) PID() int { return c.pid }

// LogFile is where the server's messages go.
func (c *Cluster) LogFile() string { return filepath.Join(c.Dir, "log") }

func (c *Cluster) data() string { return filepath.Join(c.Dir, "data") }

func (c *Cluster) logTail() string {
	raw, err := os.ReadFile(c.LogFile())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-1000):]))
}
