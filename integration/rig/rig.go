// Package rig starts the real parts that loadctl works with, on this machine: PostgreSQL, HDFS (Hadoop 3.4.1) and Hive
// 4.0.1 (HiveServer2 and metastore, Tez in local mode), from Debian's PostgreSQL and pinned Maven artifacts. Linux only.
//
// # Use
//
// A test says
//
//	stack := rig.Shared(t)                      // everything; or rig.SharedParts(t, rig.HDFS)
//	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{stack.HDFS.NameNode}, User: stack.HDFS.User})
//	hs2 := net.JoinHostPort(stack.Hive.Host, strconv.Itoa(stack.Hive.Port)) // SASL PLAIN, stack.Hive.User and .Password
//	dsn := stack.Postgres.DSN("postgres")       // the superuser; make a database of your own
//
// and gets the one stack that all test processes share, started by the first that asks. It stays up afterwards
// ("warm"): the next test finds it, probes it and goes on within a second. A stack that cannot start fails the test;
// nothing is skipped. Tests that share it keep to databases, Hive databases and HDFS folders of their own, named at
// random, and remove them.
//
// A test that kills, pauses or restarts daemons takes rig.Exclusive(t), which waits until nobody else uses the stack
// and heals it afterwards, or starts a private stack with Start and Options.Dir (HDFS alone takes five seconds).
//
// A person says "make stack", which prints the addresses, and "make unstack".
//
// # What is where
//
// All addresses are loopback, on ports chosen when the stack starts. State, generated configuration, logs and data of
// a stack are in .cache/stack/<variant>, downloads in .cache/jars (the Maven repository stays the user's own). Data
// lives as long as the daemons: a stack that is down is gone, and the next start is a clean one.
//
// The users of HDFS are hdfs (superuser), hive (as whom HiveServer2 runs) and loadctl, whose groups are loadctl and
// hive. /stage belongs to loadctl:hive, /user/loadctl to loadctl; /tmp is open to all.
package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Part is a set of parts of a stack.
type Part uint8

// The parts. Hive needs the two others, and has them started.
const (
	Postgres Part = 1 << iota
	HDFS
	Hive

	All = Postgres | HDFS | Hive
)

// Metastore says where Hive's metastore runs.
type Metastore string

const (
	// Embedded is a metastore inside HiveServer2: smaller and quicker to start. It never reaps the locks and
	// transactions of sessions that died.
	Embedded Metastore = "embedded"
	// Standalone is a metastore process of its own, which reaps (in one to two minutes) and compacts.
	Standalone Metastore = "standalone"
)

// Auth is HiveServer2's hive.server2.authentication.
type Auth string

const (
	// Custom checks passwords, against the users that Stack.Hive names. A client speaks SASL PLAIN.
	Custom Auth = "CUSTOM"
	// None checks nothing. A client speaks SASL PLAIN all the same.
	None Auth = "NONE"
)

// Options choose a stack. The zero value is all parts in the usual variant. Options that differ in more than Parts are
// another stack, beside the first.
type Options struct {
	Parts            Part      // 0 means All
	Metastore        Metastore // "" means Embedded
	Auth             Auth      // "" means Custom
	KeepOnDisconnect bool      // hive.server2.close.session.on.disconnect=false: a lost client's query runs on
	TimeZone         string    // of HiveServer2, such as Europe/Moscow; "" means UTC

	Root string       // the module's folder, whose .cache is used; "" means the one around the working directory
	Dir  string       // the stack's folder; "" means Root/.cache/stack/<variant>. Another one is a private stack
	Log  *slog.Logger // nil means silence
}

// A Stack is a set of running parts. The structures of parts that were not asked for are zero.
type Stack struct {
	Dir      string // state, configuration, logs, data
	Postgres PostgresServer
	HDFS     HDFSCluster
	Hive     HiveServer

	opt    Options
	jars   artifacts
	tools  tools
	log    *slog.Logger
	config configuration

	mu    sync.Mutex // guards state, which daemons that start side by side write
	state state
}

// Start brings the stack up that opt describes, or finds it up, and returns when every part has answered a probe. It
// starts what is missing and restarts what is dead or does not answer. Processes that call it at one time get the same
// stack. The daemons outlive the caller; Stop ends them.
func Start(ctx context.Context, opt Options) (*Stack, error) {
	s, err := open(opt)
	if err != nil {
		return nil, err
	}
	l, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer l.release()
	if err := s.bringUp(ctx); err != nil {
		return nil, fmt.Errorf("start stack in %s: %w", s.Dir, err)
	}
	s.describe()
	return s, nil
}

// ErrDown is what Attach returns when no such stack runs.
var ErrDown = errors.New("no such stack is running")

// Attach finds a running stack, without starting or probing anything. Parts that do not run are left out.
func Attach(opt Options) (*Stack, error) {
	s, err := open(opt)
	if err != nil {
		return nil, err
	}
	if s.state, err = readState(s.Dir); err != nil {
		return nil, err
	}
	if !s.state.anyAlive() {
		return nil, fmt.Errorf("find stack in %s: %w", s.Dir, ErrDown)
	}
	s.describe()
	return s, nil
}

// open resolves options; it touches nothing.
func open(opt Options) (*Stack, error) {
	opt.Parts = cmp.Or(opt.Parts, All)
	if opt.Parts&Hive != 0 {
		opt.Parts = All
	}
	opt.Metastore = cmp.Or(opt.Metastore, Embedded)
	opt.Auth = cmp.Or(opt.Auth, Custom)
	opt.TimeZone = cmp.Or(opt.TimeZone, "UTC")
	if opt.Metastore != Embedded && opt.Metastore != Standalone {
		return nil, fmt.Errorf("read options: unknown metastore %q, want %s or %s", opt.Metastore, Embedded, Standalone)
	}
	if opt.Auth != Custom && opt.Auth != None {
		return nil, fmt.Errorf("read options: unknown auth %q, want %s or %s", opt.Auth, Custom, None)
	}
	if opt.Root == "" {
		root, err := Root()
		if err != nil {
			return nil, err
		}
		opt.Root = root
	}
	if opt.Dir == "" {
		opt.Dir = filepath.Join(opt.Root, ".cache", "stack", opt.variant())
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolve folder of stack: %w", err)
	}
	if bad := strings.IndexFunc(dir, unfit); bad >= 0 {
		return nil, fmt.Errorf("resolve folder of stack: Hadoop cannot work in %q for its %q; set Options.Dir, or move the module", dir, dir[bad])
	}
	log := opt.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Stack{Dir: dir, opt: opt, log: log, jars: artifacts{dir: filepath.Join(opt.Root, ".cache", "jars")}}, nil
}

// unfit tells the characters that a stack's folder must not have: a DataNode formats its path, a class path ends at a
// colon, a list of folders at a comma, and so on.
func unfit(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@=", r))
}

// variant names the options that make another stack.
func (o Options) variant() string {
	var words []string
	if o.Metastore != Embedded {
		words = append(words, string(o.Metastore))
	}
	if o.Auth != Custom {
		words = append(words, "auth-"+strings.ToLower(string(o.Auth)))
	}
	if o.KeepOnDisconnect {
		words = append(words, "keep-on-disconnect")
	}
	if o.TimeZone != "UTC" {
		words = append(words, strings.ToLower(strings.ReplaceAll(o.TimeZone, "/", "-")))
	}
	return cmp.Or(strings.Join(words, "+"), "default")
}

// Root finds the module's folder: it walks up from the working directory, which for a test is its package's folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module's folder: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find the module's folder: no go.mod in %s or above; set Options.Root", dir)
		}
	}
}

// lock excludes other processes that start, stop or fault this stack. Using it needs no lock.
func (s *Stack) lock(ctx context.Context) (*lock, error) {
	return acquire(ctx, filepath.Join(s.Dir, "lock"), exclusive)
}

// fresh is how long the last probes of all parts stand for the next caller's: tests of one process ask at every turn.
const fresh = 10 * time.Second

// bringUp makes the parts run. The caller holds the lock.
func (s *Stack) bringUp(ctx context.Context) error {
	var err error
	if s.config, err = newConfiguration(s); err != nil {
		return err
	}
	if s.state, err = readState(s.Dir); err != nil {
		return err
	}
	if s.state.Digest == s.config.digest && s.probedLately() {
		return nil
	}
	if s.tools, err = findTools(s.opt.Parts); err != nil {
		return err
	}
	s.jars.tools = s.tools
	if s.state.Digest != s.config.digest || !s.state.anyAlive() {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	if err := s.startParts(ctx); err != nil {
		return err
	}
	return s.change(func(st *state) {
		st.ProbedAt = time.Now()
		st.Parts |= s.opt.Parts
	})
}

// probedLately says whether all parts answered a moment ago and their processes still run.
func (s *Stack) probedLately() bool {
	if time.Since(s.state.ProbedAt) > fresh || s.state.Parts&s.opt.Parts != s.opt.Parts {
		return false
	}
	for _, d := range s.daemons() {
		if !s.state.Daemons[d.name].alive() {
			return false
		}
	}
	return true
}

// begin clears what is left of an earlier stack and opens a new one.
func (s *Stack) begin(ctx context.Context) error {
	if err := s.discard(ctx); err != nil {
		return err
	}
	st, err := newState(s.config.digest)
	if err != nil {
		return err
	}
	s.state = st
	if err := os.RemoveAll(s.dir("log")); err != nil {
		return fmt.Errorf("remove old logs: %w", err)
	}
	for _, dir := range []string{"log", "tmp", "data", "secret"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, dir), 0o755); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	return s.state.write(s.Dir)
}

// change edits the state and writes it at once.
func (s *Stack) change(edit func(*state)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&s.state)
	return s.state.write(s.Dir)
}

// passwordFile holds the password that all users of a part share.
func (s *Stack) passwordFile(part string) string { return filepath.Join(s.Dir, "secret", part) }

// describe fills in the addresses.
func (s *Stack) describe() {
	p := s.state.Ports
	has := func(daemon string) bool { return s.state.Daemons[daemon].alive() }
	if s.opt.Parts&Postgres != 0 && has(postgres) {
		s.Postgres = PostgresServer{"127.0.0.1", p.Postgres, "postgres", s.state.PostgresPassword, s.passwordFile("postgres")}
	}
	if s.opt.Parts&HDFS != 0 && has(nameNode) {
		s.HDFS = HDFSCluster{local(p.NameNode), "http://" + local(p.NameNodeHTTP), "loadctl", "hdfs"}
	}
	if s.opt.Parts&Hive != 0 && has(hiveServer2) {
		s.Hive = HiveServer{
			Host: "127.0.0.1", Port: p.HiveServer2, Instance: local(p.HiveServer2), Web: "http://" + local(p.HiveServer2Web),
			Auth: s.opt.Auth, User: "loadctl", Password: s.state.HivePassword, PasswordFile: s.passwordFile("hive"),
		}
	}
}

// Env returns the stack's addresses as NAME=value lines. Passwords are named by file.
func (s *Stack) Env() []string {
	var env []string
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("RIG_DIR", s.Dir)
	if s.Postgres.Port != 0 {
		add("RIG_POSTGRES", local(s.Postgres.Port))
		add("RIG_POSTGRES_USER", s.Postgres.User)
		add("RIG_POSTGRES_PASSWORD_FILE", s.Postgres.PasswordFile)
	}
	if s.HDFS.NameNode != "" {
		add("RIG_NAMENODE", s.HDFS.NameNode)
		add("RIG_WEBHDFS", s.HDFS.WebHDFS)
		add("RIG_HDFS_USER", s.HDFS.User)
	}
	if s.Hive.Port != 0 {
		add("RIG_HIVESERVER2", s.Hive.Instance)
		add("RIG_HIVESERVER2_WEB", s.Hive.Web)
		add("RIG_HIVE_AUTH", string(s.Hive.Auth))
		add("RIG_HIVE_USER", s.Hive.User)
		add("RIG_HIVE_PASSWORD_FILE", s.Hive.PasswordFile)
	}
	return env
}
