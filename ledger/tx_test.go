package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DecideTwice is for tests with a database: two decisions that lock two rows in opposite orders, so that PostgreSQL
// must undo one of them. It returns how often a decision was started.
func (l *Ledger) DecideTwice(ctx context.Context, order [2]string) (int, error) {
	var starts atomic.Int32
	first, second := make(chan struct{}), make(chan struct{})
	errs := make(chan error, 2)
	run := func(name, other string, mine, theirs chan struct{}) {
		again := false
		errs <- l.decide(ctx, func(tx pgx.Tx) error {
			starts.Add(1)
			if err := freeNamed(ctx, tx, name); err != nil {
				return err
			}
			if !again {
				again = true
				close(mine)
				<-theirs
			}
			return freeNamed(ctx, tx, other)
		})
	}
	go run(order[0], order[1], first, second)
	go run(order[1], order[0], second, first)
	err := errors.Join(<-errs, <-errs)
	return int(starts.Load()), err
}

func freeNamed(ctx context.Context, tx pgx.Tx, source string) error {
	_, err := tx.Exec(ctx, "UPDATE loadctl.load_slot SET token = NULL WHERE source = $1", source)
	return err
}

func TestWhatACommitErrorProves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err     error
		refused bool
	}{
		"constraint":     {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "23503"}, true},
		"serialization":  {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40001"}, true},
		"shut down":      {&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		"crash":          {&pgconn.PgError{SeverityUnlocalized: "PANIC", Code: "XX000"}, false},
		"rolled back":    {pgx.ErrTxCommitRollback, true},
		"connection cut": {errors.New("unexpected EOF"), false},
		"timeout":        {context.DeadlineExceeded, false},
	} {
		if got := commitRefused(fmt.Errorf("commit: %w", test.err)); got != test.refused {
			t.Errorf("%s: refused %v, want %v", name, got, test.refused)
		}
	}
}

func TestCompareIsExact(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"71853075.00", "71853075", true},
		{"-0.50", "-0.5", true},
		{"0", "-0.00", true},
		{"007", "7", true},
		{"99999999999999999999999999999999999999.1", "99999999999999999999999999999999999999.10", true},
		{"99999999999999999999999999999999999999.1", "99999999999999999999999999999999999999.2", false},
		{"100", "1", false},
		{"10", "1.0", false},
		{"1e3", "1000", false},
		{"1.5", "-1.5", false},
		{"2026-09-28", "2026-09-28", true},
		{"2026-09-28 00:00:00", "2026-09-28", false},
		{"", "", true},
		{"", "0", false},
	} {
		if got := equal(test.a, test.b); got != test.want || equal(test.b, test.a) != test.want {
			t.Errorf("%q = %q: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestCompareLeavesNothingOut(t *testing.T) {
	t.Parallel()
	null := func(column, name string) Metric { return Metric{Column: column, Name: name} }
	n, sum := Value("A", MetricNonNull, "2"), Value("A", "sum", "1.5")
	none := Value("A", MetricNonNull, "0")
	for name, test := range map[string]struct {
		up, down []Metric
		subset   bool
		want     int
	}{
		"equal":                     {[]Metric{n, sum}, []Metric{sum, n}, false, 0},
		"no metrics at all":         {nil, nil, false, 1},
		"none downstream":           {[]Metric{n}, nil, false, 2},
		"more downstream":           {[]Metric{n}, []Metric{n, sum}, false, 1},
		"more downstream, subset":   {[]Metric{n}, []Metric{n, sum}, true, 0},
		"less downstream, subset":   {[]Metric{n, sum}, []Metric{n}, true, 1},
		"NULL, no values":           {[]Metric{none, null("A", "sum")}, []Metric{none, null("A", "sum")}, false, 0},
		"NULL, values":              {[]Metric{n, null("A", "sum")}, []Metric{n, null("A", "sum")}, false, 1},
		"NULL, count not known":     {[]Metric{null("A", "sum")}, []Metric{null("A", "sum")}, false, 1},
		"NULL rows":                 {[]Metric{null("", MetricRows)}, []Metric{null("", MetricRows)}, false, 1},
		"NULL count":                {[]Metric{null("A", MetricNonNull)}, []Metric{null("A", MetricNonNull)}, false, 1},
		"NULL on one side only":     {[]Metric{none, null("A", "sum")}, []Metric{none, Value("A", "sum", "0")}, false, 1},
		"values of another column":  {[]Metric{n, sum}, []Metric{n, Value("B", "sum", "1.5")}, false, 2},
		"NULL where it has no name": {[]Metric{none, null("", "x")}, []Metric{none, null("", "x")}, false, 1},
	} {
		if diffs := Compare(StageStream, StageStaging, test.up, test.down, test.subset); len(diffs) != test.want {
			t.Errorf("%s: %v, want %d differences", name, diffs, test.want)
		}
	}
}
