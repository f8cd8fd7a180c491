package oracle

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loadctl/loadctl/extract"
)

// Measure counts and measures the slices, and counts all rows by a scan of its own, in one statement. The metrics of
// the whole are those of its parts, except for the rows, which are that other count.
func (s *Source) Measure(ctx context.Context, q extract.Query, at extract.Snapshot, slices []extract.Slice, ms []extract.Measure) (extract.Manifest, error) {
	doing := "measure " + quoteTable(q.Table.Name)
	text, err := measureText(q, at, slices, ms)
	if err != nil {
		return extract.Manifest{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var m extract.Manifest
	err = s.with(ctx, doing, &q.Table.Name, func(ses *session) error {
		rows, err := ses.all(ctx, text)
		if err != nil {
			return err
		}
		m, err = manifest(rows, slices, ms)
		return err
	})
	return m, err
}

// manifest reads the answer to measureText.
func manifest(rows [][]string, slices []extract.Slice, ms []extract.Measure) (extract.Manifest, error) {
	byID := map[int][]string{}
	for _, row := range rows {
		id, err := strconv.Atoi(row[0])
		if err != nil {
			return extract.Manifest{}, fmt.Errorf("%w: slice number %q", extract.ErrQuery, row[0])
		}
		if byID[id] != nil {
			return extract.Manifest{}, fmt.Errorf("%w: the database counted slice %d twice", extract.ErrManifest, id)
		}
		byID[id] = row
	}
	var m extract.Manifest
	var err error
	if m.Stray, err = count(byID[strayRows]); err != nil {
		return m, err
	}
	if byID[allRows] == nil {
		return m, fmt.Errorf("%w: the database did not count the table", extract.ErrManifest)
	}
	if m.Rows, err = count(byID[allRows]); err != nil {
		return m, err
	}
	for _, s := range slices {
		c := extract.SliceCount{Slice: s}
		if c.Rows, err = count(byID[s.ID]); err != nil {
			return m, err
		}
		if c.Metrics, err = metrics(byID[s.ID], ms); err != nil {
			return m, fmt.Errorf("slice %d: %w", s.ID, err)
		}
		m.Slices = append(m.Slices, c)
	}
	m.Total, err = total(m, ms)
	return m, err
}

// count is the number of rows in a row of the answer; a slice that has none has no row either.
func count(row []string) (int64, error) {
	if row == nil {
		return 0, nil
	}
	return parseCount(row[1])
}

func parseCount(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the database counts %q", extract.ErrQuery, s)
	}
	return n, nil
}

// metrics reads the values of a slice, in the order of expressions.
func metrics(row []string, ms []extract.Measure) ([]extract.Metric, error) {
	out := make([]extract.Metric, len(ms))
	next := 2
	for i, m := range ms {
		out[i] = extract.Metric{Column: m.Column, What: m.What}
		n := 0
		if m.What != extract.Rows {
			n = len(expressions(m, ""))
		}
		var values []string
		if row != nil {
			values = row[next : next+n]
		}
		next += n
		if err := setMetric(&out[i], m, row, values); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func setMetric(to *extract.Metric, m extract.Measure, row, values []string) (err error) {
	switch {
	case m.What == extract.Rows:
		n, err := count(row)
		to.Value = strconv.FormatInt(n, 10)
		return err
	case m.What == extract.NonNull:
		to.Value = "0"
		if row != nil {
			to.Value = values[0]
		}
		return nil
	case row == nil || values[0] == "":
		to.Null = true
		return nil
	case m.What == extract.Sum:
		if to.Value, err = sum(values, m.Type.Scale); err != nil {
			err = fmt.Errorf("sum of column %q, which is %s: %w", m.Column, m.Type, err)
		}
	default:
		to.Value, err = canonical(values[0], extract.Column{Name: m.Column, Declared: m.Type.String(), Type: m.Type})
	}
	return err
}

// sum puts the parts of a sum together.
func sum(parts []string, scale int) (string, error) {
	total := "0"
	for _, p := range parts {
		var err error
		if total, err = extract.AddDecimal(total, p); err != nil {
			return "", err
		}
	}
	return extract.CanonicalDecimal(total, scale)
}

func total(m extract.Manifest, ms []extract.Measure) ([]extract.Metric, error) {
	var parts [][]extract.Metric
	for _, s := range m.Slices {
		parts = append(parts, s.Metrics)
	}
	out, err := extract.Merge(parts...)
	for i := range out {
		if out[i].What == extract.Rows {
			out[i].Value = strconv.FormatInt(m.Rows, 10)
		}
	}
	return out, err
}
