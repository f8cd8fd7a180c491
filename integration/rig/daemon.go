package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// The names of the daemons, for Kill, Pause, Resume and Restart.
const (
	postgres    = "postgres"
	nameNode    = "namenode"
	dataNode    = "datanode"
	metastore   = "metastore" // of the Standalone variant
	hiveServer2 = "hiveserver2"
)

const (
	coldPatience = 3 * time.Minute  // for a daemon just started to answer, on a machine that is busy with other work
	warmPatience = time.Minute      // for one that runs already
	stopPatience = 20 * time.Second // for one to end by itself when it is asked to
	probeEvery   = 100 * time.Millisecond
)

// A daemon is one process of a stack.
type daemon struct {
	name  string
	part  Part
	stop  syscall.Signal                         // asks it to end in good order
	start func(context.Context) (process, error) // makes its data when there is none, and starts it
	probe func(ctx context.Context) error        // nil when it does its work
	limit time.Duration                          // of one probe: an answer may be lost for ever where the next one comes at once
	after func(ctx context.Context) error        // what is set up through it, done again without harm; or nil
}

// daemons lists those of the parts asked for, in the order of starting.
func (s *Stack) daemons() []daemon {
	all := []daemon{s.postgresDaemon(), s.nameNodeDaemon(), s.dataNodeDaemon()}
	if s.opt.Metastore == Standalone {
		all = append(all, s.metastoreDaemon())
	}
	all = append(all, s.hiveServer2Daemon())
	return slices.DeleteFunc(all, func(d daemon) bool { return d.part&s.opt.Parts == 0 })
}

// startParts starts PostgreSQL and HDFS side by side, then Hive.
func (s *Stack) startParts(ctx context.Context) error {
	if err := s.config.write(s); err != nil {
		return err
	}
	chain := func(ctx context.Context, part Part) error {
		for _, d := range s.daemons() {
			if d.part != part {
				continue
			}
			if err := s.up(ctx, d); err != nil {
				return err
			}
		}
		return nil
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return chain(gctx, Postgres) })
	g.Go(func() error { return chain(gctx, HDFS) })
	if err := g.Wait(); err != nil {
		return err
	}
	if err := s.config.write(s); err != nil { // again: PostgreSQL's password is known now
		return err
	}
	return chain(ctx, Hive)
}

// up returns when the daemon answers: at once, where it runs well; else it is started, or started again.
func (s *Stack) up(ctx context.Context, d daemon) error {
	begin := time.Now()
	if p := s.process(d.name); p.alive() {
		p.signal(syscall.SIGCONT) // a fault test that died may have left it paused
		err := s.ready(ctx, d, warmPatience)
		if err == nil {
			return s.finish(ctx, d)
		}
		s.log.Warn("restart daemon that does not answer", "daemon", d.name, "err", err)
		if err := p.stop(ctx, syscall.SIGKILL, killPatience); err != nil {
			return fmt.Errorf("stop %s: %w", d.name, err)
		}
	}
	if err := s.launch(ctx, d); err != nil {
		return fmt.Errorf("start %s: %w", d.name, err)
	}
	if err := s.ready(ctx, d, coldPatience); err != nil {
		return fmt.Errorf("wait for %s: %w; %s", d.name, err, logTail(s.Log(d.name)))
	}
	if err := s.finish(ctx, d); err != nil {
		return err
	}
	s.log.Info("daemon ready", "daemon", d.name, "elapsed", time.Since(begin).Round(time.Millisecond))
	return nil
}

func (s *Stack) finish(ctx context.Context, d daemon) error {
	if d.after == nil {
		return nil
	}
	if err := d.after(ctx); err != nil {
		return fmt.Errorf("set up %s: %w", d.name, err)
	}
	return nil
}

// launch starts the daemon's process and records it at once, so that no crash of ours loses sight of it.
func (s *Stack) launch(ctx context.Context, d daemon) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p, err := d.start(ctx)
	if err != nil {
		return err
	}
	return s.change(func(st *state) {
		st.Daemons[d.name] = p
		st.ProbedAt = time.Time{}
	})
}

// ready waits until the daemon's probe succeeds or its process has ended.
func (s *Stack) ready(ctx context.Context, d daemon, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer in %s", patience))
	defer cancel()
	p := s.process(d.name)
	died := errors.New("its process ended")
	err := poll(ctx, probeEvery, func() error {
		if !p.alive() {
			cancel() // no use in asking again
			return died
		}
		return d.ask(ctx)
	})
	if err != nil && !errors.Is(err, died) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// ask probes once.
func (d daemon) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return d.probe(ctx)
}

func (s *Stack) process(name string) process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Daemons[name]
}

// Log returns the path of a daemon's log.
func (s *Stack) Log(name string) string {
	if name == postgres {
		return filepath.Join(s.state.Postgres, "log")
	}
	return filepath.Join(s.Dir, "log", name+".log")
}

// Stop is Stack.Stop for a stack that this process did not start.
func Stop(ctx context.Context, opt Options) error {
	s, err := open(opt)
	if err != nil {
		return err
	}
	return s.Stop(ctx)
}

// Stop ends all daemons of the stack and removes its data; logs stay. A stack that is down already is no error.
func (s *Stack) Stop(ctx context.Context) error {
	l, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer l.release()
	if s.state, err = readState(s.Dir); err != nil {
		return err
	}
	return s.discard(ctx)
}

// discard stops and removes what s.state knows. Since the data goes too, nobody needs to end in good order, but
// PostgreSQL is asked to, or its shared memory would stay.
func (s *Stack) discard(ctx context.Context) error {
	var errs []error
	for _, name := range []string{hiveServer2, metastore, dataNode, nameNode, postgres} {
		sig := syscall.SIGKILL
		if name == postgres {
			sig = syscall.SIGINT
		}
		if err := s.state.Daemons[name].stop(ctx, sig, stopPatience); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", name, err))
		}
	}
	if s.state.Postgres != "" && s.state.Daemons[postgres].PID == 0 { // started, but our program died before it was recorded
		errs = append(errs, ledgertest.StopCluster(s.state.Postgres))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, dir := range []string{s.state.Postgres, s.dir("data"), s.dir("tmp"), s.dir("conf"), s.dir("secret"), s.dir("state.json")} {
		if dir == "" {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove data: %w", err)
		}
	}
	s.state = state{}
	return nil
}

func (s *Stack) dir(name string) string { return filepath.Join(s.Dir, name) }

// Kill ends a daemon with SIGKILL, children included, as a crash would. It returns when the process is gone.
func (s *Stack) Kill(ctx context.Context, name string) error {
	return s.fault(ctx, "kill", name, func(p process) error {
		if err := p.signal(syscall.SIGKILL); err != nil {
			return err
		}
		return p.stop(ctx, syscall.SIGKILL, killPatience)
	})
}

// Pause stops a daemon in its tracks: its connections stay open and answer nothing. Resume lets it go on.
func (s *Stack) Pause(ctx context.Context, name string) error {
	return s.fault(ctx, "pause", name, func(p process) error { return p.signal(syscall.SIGSTOP) })
}

// Resume lets a paused daemon go on.
func (s *Stack) Resume(ctx context.Context, name string) error {
	return s.fault(ctx, "resume", name, func(p process) error { return p.signal(syscall.SIGCONT) })
}

// Restart starts a daemon again, on the same ports and data, whether it runs or was killed, and waits until it and its
// part of the stack answer.
func (s *Stack) Restart(ctx context.Context, name string) error {
	l, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer l.release()
	d, err := s.named(name)
	if err != nil {
		return err
	}
	if err := s.process(name).stop(ctx, d.stop, stopPatience); err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	if err := s.up(ctx, d); err != nil {
		return err
	}
	return s.settle(ctx, d)
}

// settle waits for the running daemons beside d: a DataNode, for one, has to find its new NameNode.
func (s *Stack) settle(ctx context.Context, d daemon) error {
	for _, other := range s.daemons() {
		p := s.process(other.name)
		if other.part != d.part || other.name == d.name || !p.alive() || p.paused() {
			continue
		}
		if err := s.ready(ctx, other, warmPatience); err != nil {
			return fmt.Errorf("wait for %s: %w", other.name, err)
		}
	}
	return nil
}

// fault does something to a running daemon's process; whoever asks for the stack next probes it in full.
func (s *Stack) fault(ctx context.Context, verb, name string, do func(process) error) error {
	l, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer l.release()
	if _, err := s.named(name); err != nil {
		return err
	}
	if err := s.change(func(st *state) { st.ProbedAt = time.Time{} }); err != nil {
		return err
	}
	if err := do(s.process(name)); err != nil {
		return fmt.Errorf("%s %s: %w", verb, name, err)
	}
	return nil
}

// named finds a daemon by name and takes in what other processes did to the stack since. The caller holds the lock.
func (s *Stack) named(name string) (daemon, error) {
	st, err := readState(s.Dir)
	if err != nil {
		return daemon{}, err
	}
	s.mu.Lock()
	s.state = st
	s.mu.Unlock()
	var names []string
	for _, d := range s.daemons() {
		if d.name == name {
			return d, nil
		}
		names = append(names, d.name)
	}
	return daemon{}, fmt.Errorf("find daemon %q: this stack has %v", name, names)
}
