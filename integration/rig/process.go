package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is a daemon that outlives the program that started it. Its start time tells it from a later process that
// was given the same id.
type process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"` // clock ticks after boot, field 22 of /proc/PID/stat
}

// A command is what to launch. Its environment is exactly env: a caller's CLASSPATH, HADOOP_* or PG* settings would
// make a stack that works here and nowhere else.
type command struct {
	path string
	args []string
	env  []string
	dir  string
}

// launch starts c in a session of its own, its output appended to log, and does not wait for it.
func launch(c command, log string) (process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return process{}, fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd := exec.Command(c.path, c.args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return process{}, fmt.Errorf("start %s: %w", filepath.Base(c.path), err)
	}
	return processOf(cmd.Process.Pid)
}

// processOf identifies a process that runs.
func processOf(pid int) (process, error) {
	st, err := readStat(pid)
	if err != nil {
		return process{}, fmt.Errorf("look at process %d just started: %w", pid, err)
	}
	return process{PID: pid, Started: st.started}, nil
}

// run waits for a command that ends by itself; its output goes to log, whose end is in the error.
func run(ctx context.Context, c command, log string) error {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w; %s", filepath.Base(c.path), err, logTail(log))
	}
	return nil
}

// alive reports whether the process runs. A zombie is dead: a daemon killed while its starter lives stays one until
// the starter looks, which alive does. But while other threads of a zombie are still ending, it holds its ports, and
// counts as alive. A stopped (SIGSTOP) process is alive.
func (p process) alive() bool {
	if p.PID == 0 {
		return false
	}
	syscall.Wait4(p.PID, nil, syscall.WNOHANG, nil) // reaps it where it is our child; an error says that it is not
	st, err := readStat(p.PID)
	return err == nil && st.started == p.Started && (st.state != 'Z' || st.threads > 1) && st.state != 'X'
}

// paused reports whether the process was stopped with SIGSTOP.
func (p process) paused() bool {
	st, err := readStat(p.PID)
	return err == nil && st.state == 'T'
}

// signal sends sig to the process and all its descendants, parents first. (A process group would not do:
// PostgreSQL's backends lead groups of their own.)
func (p process) signal(sig syscall.Signal) error {
	if !p.alive() {
		return os.ErrProcessDone
	}
	pids := append([]int{p.PID}, descendants(p.PID)...)
	var errs []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("signal process %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}

// stop ends the process: sig to it alone, then after grace SIGKILL to it and its descendants. It returns when the
// process is gone. A stopped process is woken, or it could not act on sig.
func (p process) stop(ctx context.Context, sig syscall.Signal, grace time.Duration) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal process %d: %w", p.PID, err)
	}
	p.signal(syscall.SIGCONT)
	if p.gone(ctx, grace) {
		return nil
	}
	if err := p.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if !p.gone(ctx, killPatience) {
		return fmt.Errorf("process %d survived SIGKILL for %s", p.PID, killPatience)
	}
	return nil
}

// killPatience bounds the wait for the kernel to end a killed process.
const killPatience = 10 * time.Second

// gone waits until the process has ended, and says whether it has.
func (p process) gone(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll(ctx, 20*time.Millisecond, func() error {
		if p.alive() {
			return errors.New("still there")
		}
		return nil
	}) == nil
}

// stat is what the rig needs of /proc/PID/stat.
type stat struct {
	state   byte
	parent  int
	threads int
	started uint64
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The second field is the command in parentheses and may hold anything; what follows the last ")" is regular.
	_, rest, ok := strings.Cut(string(b[strings.LastIndexByte(string(b), ')'):]), " ")
	f := strings.Fields(rest)
	if !ok || len(f) < 20 {
		return stat{}, fmt.Errorf("read /proc/%d/stat: unexpected form", pid)
	}
	parent, err1 := strconv.Atoi(f[1])
	threads, err2 := strconv.Atoi(f[17])
	started, err3 := strconv.ParseUint(f[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return stat{}, fmt.Errorf("read /proc/%d/stat: %w", pid, err)
	}
	return stat{state: f[0][0], parent: parent, threads: threads, started: started}, nil
}

// descendants lists children, their children and so on, nearest first.
func descendants(pid int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(id); err == nil {
			children[st.parent] = append(children[st.parent], id)
		}
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// poll calls probe until it returns nil; when ctx ends first, it returns the probe's last error.
func poll(ctx context.Context, every time.Duration, probe func() error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := probe()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// logTail returns the last lines of a log for an error text.
func logTail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	return fmt.Sprintf("log %s ends:\n%s", path, lastLines(string(b)))
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if n := len(lines); n > 8 {
		lines = lines[n-8:]
	}
	return "\t" + strings.Join(lines, "\n\t")
}

// daemonEnv is the environment of a daemon. HOME is for programs that insist on one.
func daemonEnv(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LANG=C.UTF-8", "TZ=UTC"}, more...)
}
