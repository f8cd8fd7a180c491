package oracle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// Source is an Oracle database. It implements extract.Source.
type Source struct {
	pool    *pool
	readers *readers // which reader does what
	as      extract.Session
	id      extract.Identity
}

var _ extract.Source = (*Source)(nil)

// New checks the configuration. It connects to nothing.
func New(cfg Config) (*Source, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Source{pool: newPool(cfg), readers: newReaders(cfg)}, nil
}

// As returns the same source, sharing its sessions and their limit.
func (s *Source) As(as extract.Session, id extract.Identity) extract.Source {
	return &Source{pool: s.pool, readers: s.readers, as: as, id: id}
}

// Close ends every session, those of As included; a Reader's when it is closed.
func (s *Source) Close() error {
	s.pool.close()
	return nil
}

// plannerPrefetch is for answers of a few rows.
const plannerPrefetch = 500

// with runs use on a session and says every error in full.
func (s *Source) with(ctx context.Context, doing string, table *extract.TableName, use func(*session) error) error {
	ses, err := s.pool.take(ctx, wanted{kind: kind{prefetch: plannerPrefetch}, as: s.as, id: s.id})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer s.pool.give(ses)
	if err := use(ses); err != nil {
		return s.pool.cfg.fault(ctx, doing, table, err)
	}
	return nil
}

// limit ends ctx after the run's query timeout.
func (s *Source) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return until(ctx, s.deadline(), s.as.QueryTimeout)
}

func (s *Source) deadline() time.Time {
	if s.as.QueryTimeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(s.as.QueryTimeout)
}

func until(ctx context.Context, deadline time.Time, after time.Duration) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	cause := fmt.Errorf("%w: the query took longer than query_timeout (%s)", extract.ErrBusy, after)
	return context.WithDeadlineCause(ctx, deadline, cause)
}

// Identity asks the database who it is.
func (s *Source) Identity(ctx context.Context) (extract.Identity, error) {
	var id extract.Identity
	err := s.with(ctx, "identify the source", nil, func(ses *session) error {
		id = ses.identity // every session is identified as it is taken
		return nil
	})
	return id, err
}

// Snapshot reads the current SCN from DBMS_FLASHBACK, or from V$DATABASE where that may not be executed.
func (s *Source) Snapshot(ctx context.Context) (extract.Snapshot, error) {
	const doing = "fix the snapshot"
	at, err := s.snapshot(ctx, doing, selectSCNFlashback)
	if !isORA(err, 904, 942, 1031, 6550, 6553) {
		return at, err
	}
	at, err = s.snapshot(ctx, doing, selectSCNVDatabase)
	if isORA(err, 904, 942, 1031) {
		return at, fmt.Errorf("%s: %w: %s may read the SCN nowhere; GRANT EXECUTE ON DBMS_FLASHBACK TO %s, or GRANT SELECT ON V_$DATABASE TO %s",
			doing, extract.ErrPrivilege, s.pool.cfg.User, s.pool.cfg.User, s.pool.cfg.User)
	}
	return at, err
}

func (s *Source) snapshot(ctx context.Context, doing, text string) (extract.Snapshot, error) {
	var at extract.Snapshot
	err := s.with(ctx, doing, nil, func(ses *session) error {
		rows, err := ses.all(ctx, text)
		if err != nil {
			return err
		}
		if len(rows) != 1 || !scnLiteral.MatchString(rows[0][0]) {
			return fmt.Errorf("%w: the database returned no SCN", extract.ErrQuery)
		}
		at = extract.Snapshot{SCN: rows[0][0], Time: strings.Replace(rows[0][1], " ", "T", 1) + "Z"}
		return nil
	})
	return at, err
}

// Bounds finds the extremes of a column, which need not be among those of the query.
func (s *Source) Bounds(ctx context.Context, q extract.Query, at extract.Snapshot, column string) (extract.Bounds, error) {
	c, ok := q.Table.Column(column)
	if !ok {
		t, err := s.Describe(ctx, extract.Selection{Table: q.Table.Name, Columns: []string{column}})
		if err != nil {
			return extract.Bounds{}, err
		}
		c = t.Columns[0]
	}
	if !extract.Measurable(c.Type, extract.Min) {
		return extract.Bounds{}, fmt.Errorf("bounds of column %q, which is %s: %w; split by a number, a date or a timestamp", column, c.Declared, extract.ErrUnsupported)
	}
	text, err := boundsText(q, at, c)
	if err != nil {
		return extract.Bounds{}, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var b extract.Bounds
	err = s.with(ctx, "find the bounds of "+quote(column)+" in "+quoteTable(q.Table.Name), &q.Table.Name, func(ses *session) error {
		rows, err := ses.all(ctx, text)
		if err != nil {
			return err
		}
		b, err = boundsOf(rows, c)
		return err
	})
	return b, err
}

func boundsOf(rows [][]string, c extract.Column) (b extract.Bounds, err error) {
	if len(rows) != 1 || len(rows[0]) != 4 {
		return b, fmt.Errorf("%w: an aggregate returned %d rows", extract.ErrQuery, len(rows))
	}
	row := rows[0]
	if b.Min, err = canonical(row[0], c); err != nil {
		return b, err
	}
	if b.Max, err = canonical(row[1], c); err != nil {
		return b, err
	}
	if b.Rows, err = parseCount(row[2]); err != nil {
		return b, err
	}
	values, err := parseCount(row[3])
	b.Nulls = b.Rows - values
	return b, err
}

// canonical turns Oracle's text of a value of c into the port's; "" stays "".
func canonical(text string, c extract.Column) (string, error) {
	if text == "" {
		return "", nil
	}
	var err error
	if c.Type.Kind == extract.Timestamp {
		text = extract.CanonicalTimestamp(strings.TrimPrefix(text, " "))
		_, _, err = extract.ParseTimestamp(text)
	} else {
		var n extract.Int128
		n, err = extract.ParseDecimal(text, c.Type)
		text = extract.FormatDecimal(n, c.Type.Scale)
	}
	if err != nil {
		return "", fmt.Errorf("column %q, which is %s: %w", c.Name, c.Declared, err)
	}
	return text, nil
}

// Statements lists the texts of Measure and Read. A text that cannot be built is a comment that says why.
func (s *Source) Statements(q extract.Query, at extract.Snapshot, slices []extract.Slice, ms []extract.Measure) []string {
	var out []string
	add := func(text string, err error) {
		if err != nil {
			text = "-- " + err.Error()
		}
		out = append(out, text)
	}
	add(measureText(q, at, slices, ms))
	for _, slice := range slices {
		add(readText(q, at, slice))
	}
	return out
}
