package oracle

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loadctl/loadctl/extract"
)

// client is the protocol under a session: the driver's, or ours.
type client interface {
	// exec runs a statement that returns no rows.
	exec(ctx context.Context, text string, args ...string) error
	// all runs a query and returns every row as text, NULL as "".
	all(ctx context.Context, text string, args ...string) ([][]string, error)
	// broken says that the session must not be used again.
	broken() bool
	// close ends it, politely unless it is broken.
	close()
}

// session is one login. One goroutine uses it at a time; the pool passes it on.
type session struct {
	client
	kind     kind
	init     string // what it was set up with (see initKey)
	user     string
	unicode  bool // the database stores text in a Unicode encoding
	marked   extract.Session
	identity extract.Identity
	spoilt   bool // by what the client does not know of: never used again
	idle     *time.Timer
}

// kind is what a session is good for.
type kind struct {
	thin     bool
	prefetch int // rows a fetch, of the driver's, which settles it at the login
}

// openSession logs in, pins what a logon trigger or the environment may have set, runs the job's own statements, and
// leaves the session unmarked.
func openSession(ctx context.Context, cfg Config, k kind, init []string) (*session, error) {
	password, err := cfg.Password()
	if err != nil {
		return nil, fmt.Errorf("connect to oracle %s: password: %w", cfg, err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	s := &session{kind: k, init: initKey(init)}
	if s.client, err = connectClient(ctx, cfg, k, password); err != nil {
		return nil, cfg.fault(ctx, "connect to oracle "+cfg.String(), nil, err)
	}
	for _, text := range append([]string{pinSession}, init...) {
		if err := s.setUp(ctx, text); err != nil {
			s.close()
			return nil, cfg.fault(ctx, "set up the session at "+cfg.String()+" ("+clip(text, 60)+")", nil, err)
		}
	}
	return s, nil
}

func connectClient(ctx context.Context, cfg Config, k kind, password string) (client, error) {
	if k.thin {
		return connectThin(ctx, cfg, password)
	}
	return connectDriver(ctx, cfg, password, k.prefetch)
}

// useless says whether the session must be thrown away.
func (s *session) useless() bool { return s.spoilt || s.broken() }

// initKey tells sessions apart that were set up with other statements.
func initKey(init []string) string { return strings.Join(init, "\x00") }

func (s *session) setUp(ctx context.Context, text string) error {
	if !alterSession.MatchString(text) {
		return fmt.Errorf("%w: session_init may hold nothing but ALTER SESSION", extract.ErrUnsupported)
	}
	return s.exec(ctx, text)
}

// mark tells the source's session views who asks. Marking is a courtesy: a database that refuses it is read all
// the same, by sessions that are not marked.
func (s *session) mark(ctx context.Context, as extract.Session) error {
	if s.marked.Action == as.Action && s.marked.Client == as.Client {
		return nil
	}
	err := s.exec(ctx, markSession, module, clip(as.Action, 64), clip(as.Client, 64))
	if err == nil {
		s.marked = as
	}
	return err
}

// clip cuts s to at most n bytes without cutting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
