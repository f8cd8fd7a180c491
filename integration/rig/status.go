package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A DaemonStatus tells how one daemon does.
type DaemonStatus struct {
	Name   string
	PID    int   // 0 when it does not run
	Memory int64 // resident, in bytes, children included
	Err    error // nil when it answered a probe
}

// Status probes every daemon of the parts asked for. It changes nothing.
func (s *Stack) Status(ctx context.Context) []DaemonStatus {
	var all []DaemonStatus
	for _, d := range s.daemons() {
		all = append(all, s.status(ctx, d))
	}
	return all
}

func (s *Stack) status(ctx context.Context, d daemon) DaemonStatus {
	p := s.process(d.name)
	if !p.alive() {
		return DaemonStatus{Name: d.name, Err: errors.New("not running")}
	}
	st := DaemonStatus{Name: d.name, PID: p.PID, Memory: resident(p.PID), Err: d.ask(ctx)}
	for _, pid := range descendants(p.PID) {
		st.Memory += resident(pid)
	}
	return st
}

// resident reads a process's resident memory, 0 when it is gone.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// StopAll stops every stack in the .cache of root (the module's folder; "" finds it), of whatever variant.
func StopAll(ctx context.Context, root string) error {
	if root == "" {
		var err error
		if root, err = Root(); err != nil {
			return err
		}
	}
	states, err := filepath.Glob(filepath.Join(root, ".cache", "stack", "*", "state.json"))
	if err != nil {
		return fmt.Errorf("find stacks: %w", err)
	}
	var errs []error
	for _, path := range states {
		s, err := open(Options{Root: root, Dir: filepath.Dir(path)})
		if err == nil {
			err = s.Stop(ctx)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("stop stack in %s: %w", filepath.Dir(path), err))
		}
	}
	return errors.Join(errs...)
}
