package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/loadctl/loadctl/extract"
)

// session is one login. One goroutine uses it at a time; the pool passes it on.
type session struct {
	cfg      Config
	conn     *go_ora.Connection
	link     *link
	prefetch int    // rows a fetch
	init     string // what it was set up with (see initKey)
	user     string
	unicode  bool // the database stores text in a Unicode encoding
	marked   extract.Session
	identity extract.Identity
	broken   bool // after any error: never used again
	idle     *time.Timer
}

// openSession logs in, pins what a logon trigger or the environment may have set, runs the job's own statements, and
// leaves the session unmarked.
func openSession(ctx context.Context, cfg Config, prefetch int, init []string) (*session, error) {
	password, err := cfg.Password()
	if err != nil {
		return nil, fmt.Errorf("connect to oracle %s: password: %w", cfg, err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	s := &session{cfg: cfg, prefetch: prefetch, init: initKey(init)}
	if err := s.connect(ctx, password); err != nil {
		return nil, cfg.fault(ctx, "connect to oracle "+cfg.String(), nil, withoutSecret(err, password))
	}
	for _, text := range append([]string{pinSession}, init...) {
		if err := s.setUp(ctx, text); err != nil {
			s.close()
			return nil, cfg.fault(ctx, "set up the session at "+cfg.String()+" ("+clip(text, 60)+")", nil, err)
		}
	}
	return s, nil
}

// initKey tells sessions apart that were set up with other statements.
func initKey(init []string) string { return strings.Join(init, "\x00") }

func (s *session) setUp(ctx context.Context, text string) error {
	if !alterSession.MatchString(text) {
		return fmt.Errorf("%w: session_init may hold nothing but ALTER SESSION", extract.ErrUnsupported)
	}
	return s.exec(ctx, text)
}

func (s *session) connect(ctx context.Context, password string) (err error) {
	// One connector a session: charset tables and the fetch size belong to the connector.
	d := &dialer{ctx: ctx, cfg: s.cfg}
	defer func() {
		d.release()
		if r := recover(); r != nil {
			err = fmt.Errorf("the driver panicked: %v", r)
		}
		if err != nil && d.link != nil {
			d.link.Close()
		}
	}()
	connector, ok := go_ora.NewConnector(s.cfg.url(password, s.prefetch)).(*go_ora.OracleConnector)
	if !ok {
		return errors.New("the driver has another connector than it had")
	}
	connector.Dialer(d)
	conn, err := connector.Connect(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if s.conn, ok = conn.(*go_ora.Connection); !ok {
		return errors.New("the driver has another connection than it had")
	}
	s.link = d.link
	return nil
}

// url is the driver's own form of a configuration. It holds the password and must not reach an error.
func (c Config) url(password string, prefetch int) string {
	return go_ora.BuildUrl(c.Host, c.Port, c.Service, c.User, password, map[string]string{
		"PREFETCH_ROWS": strconv.Itoa(prefetch),
		// DATE and TIMESTAMP have no zone. Anything but UTC makes the driver shift wall clocks that fall into a gap.
		"SERVER LOCATION":    "UTC",
		"CONNECTION TIMEOUT": strconv.Itoa(int(c.ConnectTimeout/time.Second) + 1),
		"PROGRAM":            module,
	})
}

// withoutSecret hides the password in the text of an error of the driver, whose URL parser quotes what it parses.
func withoutSecret(err error, password string) error {
	if password == "" || !strings.Contains(err.Error(), password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), password, "***"))
}

// call runs one use of the driver. Patience is how long the server may be silent, 0 for ever. When ctx ends, what runs is
// broken off. A panic becomes an error; after any error the session is broken.
func (s *session) call(ctx context.Context, patience time.Duration, use func() error) (err error) {
	if s.broken {
		return errors.New("use of a broken session")
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.link.setPatience(patience)
	stop := context.AfterFunc(ctx, s.link.interrupt)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the driver panicked: %v", r)
		}
		interrupted := !stop()
		s.broken = s.broken || interrupted || (err != nil && err != io.EOF)
	}()
	return use()
}

// exec runs a statement that returns no rows.
func (s *session) exec(ctx context.Context, text string, args ...string) error {
	return s.call(ctx, s.cfg.ConnectTimeout, func() error {
		_, err := s.conn.ExecContext(context.WithoutCancel(ctx), text, named(args))
		return err
	})
}

// open runs a query and returns its rows, of which none has been fetched by the caller yet.
func (s *session) open(ctx context.Context, patience time.Duration, text string, args ...string) (driver.Rows, error) {
	var rows driver.Rows
	err := s.call(ctx, patience, func() (err error) {
		rows, err = s.conn.QueryContext(context.WithoutCancel(ctx), text, named(args))
		return err
	})
	return rows, err
}

func named(args []string) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// all runs a query and returns every row as text, NULL as "": for the dictionary and for counts, whose values are
// never empty. Numbers come as the driver's exact text.
func (s *session) all(ctx context.Context, text string, args ...string) ([][]string, error) {
	rows, err := s.open(ctx, 0, text, args...)
	if err != nil {
		return nil, err
	}
	var out [][]string
	ended := false
	err = s.call(ctx, 0, func() error {
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(row); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			values, err := texts(row)
			if err != nil {
				return err
			}
			out = append(out, values)
		}
		ended = s.ended() // before the cursor is closed, which is another reply
		return rows.Close()
	})
	if err == nil && !ended {
		return nil, fmt.Errorf("%w: the answer to a query of the planner has no end", extract.ErrShort)
	}
	return out, err
}

func texts(row []driver.Value) ([]string, error) {
	out := make([]string, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
		case string:
			out[i] = strings.Clone(v)
		default:
			return nil, fmt.Errorf("%w: the driver returned a %T where a text was asked for", extract.ErrQuery, v)
		}
	}
	return out, nil
}

// endOfRows is what every server says, in any language, when it has no more rows. The driver does not tell it
// from a reply that simply has none.
const endOfRows = "ORA-01403"

// ended says whether the last reply told that there are no more rows.
func (s *session) ended() bool { return s.link.endsWith(endOfRows) }

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

// close ends the session, politely unless it is broken.
func (s *session) close() {
	if s.link == nil {
		return
	}
	if !s.broken {
		// The answer to a log-off changes nothing for us.
		_ = s.call(context.Background(), 2*time.Second, func() error { return s.conn.Close() })
	}
	s.link.Close()
}
