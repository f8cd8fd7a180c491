package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/extract"
)

// Describe reads the dictionary. Names are matched exactly; where one is not there, the text says which differ
// only by case.
func (s *Source) Describe(ctx context.Context, sel extract.Selection) (*extract.Table, error) {
	name := sel.Table
	doing := "describe " + quoteTable(name)
	if err := checkSelection(sel); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	var table *extract.Table
	err := s.with(ctx, doing, &name, func(ses *session) error {
		if name.Schema == "" {
			name.Schema = ses.user
		}
		if err := findTable(ctx, ses, name); err != nil {
			return err
		}
		t, err := readTable(ctx, ses, name, sel)
		table = t
		return err
	})
	return table, err
}

func checkSelection(sel extract.Selection) error {
	names := append([]string{sel.Table.Name}, sel.Columns...)
	if sel.Table.Schema != "" {
		names = append(names, sel.Table.Schema)
	}
	var errs []error
	for _, n := range names {
		errs = append(errs, checkName(n))
	}
	return errors.Join(errs...)
}

// findTable refuses what is not there and what is no table.
func findTable(ctx context.Context, ses *session, name extract.TableName) error {
	rows, err := ses.all(ctx, selectObjectKinds, name.Schema, name.Name)
	if err != nil {
		return err
	}
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, r[0])
	}
	if slices.Contains(kinds, "TABLE") {
		return nil
	}
	for _, k := range []string{"VIEW", "SYNONYM", "MATERIALIZED VIEW", "CLUSTER", "SEQUENCE"} {
		if slices.Contains(kinds, k) {
			return fmt.Errorf("%w: %s is a %s; only tables can be read yet, name the table behind it", extract.ErrUnsupported, quoteTable(name), k)
		}
	}
	return noTable(ctx, ses, name)
}

// maxSuggestions keeps an error readable.
const maxSuggestions = 5

func noTable(ctx context.Context, ses *session, name extract.TableName) error {
	rows, err := ses.all(ctx, selectSimilarTables, name.Name)
	if err != nil {
		return err
	}
	hint := ""
	for i, r := range rows {
		if i == maxSuggestions {
			break
		}
		hint += ", " + quoteTable(extract.TableName{Schema: r[0], Name: r[1]})
	}
	if hint != "" {
		hint = "; there is " + hint[2:] + " (names that are not upper case need double quotes)"
	}
	return fmt.Errorf("%w: %s is not there, or %s may not see it%s; if it is, GRANT SELECT, FLASHBACK ON %s TO %s",
		extract.ErrNoTable, quoteTable(name), ses.user, hint, quoteTable(name), quote(ses.user))
}

func readTable(ctx context.Context, ses *session, name extract.TableName, sel extract.Selection) (*extract.Table, error) {
	facts, err := ses.all(ctx, selectTableFacts, name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	if len(facts) != 1 {
		return nil, fmt.Errorf("%w: %s is a table of objects or XML", extract.ErrUnsupported, quoteTable(name))
	}
	if facts[0][1] == "Y" {
		return nil, fmt.Errorf("%w: %s is a temporary table, whose rows only the session that wrote them can see", extract.ErrUnsupported, quoteTable(name))
	}
	t := &extract.Table{Name: name, Estimated: -1}
	if n, err := strconv.ParseInt(facts[0][0], 10, 64); err == nil {
		t.Estimated = n
	}
	rows, err := ses.all(ctx, selectColumns, name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	all := make([]declared, len(rows))
	for i, r := range rows {
		if all[i], err = readDeclared(r); err != nil {
			return nil, err
		}
	}
	key, err := ses.all(ctx, selectKey, name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	for _, r := range key {
		t.Key = append(t.Key, r[0])
	}
	t.Columns, err = choose(all, sel)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func readDeclared(r []string) (declared, error) {
	d := declared{name: r[0], dataType: r[1], charUsed: r[6] == "C", nullable: r[7] != "N"}
	var errs [4]error
	d.length, errs[0] = integer(r[2])
	d.precision, errs[1] = optional(r[3])
	d.scale, errs[2] = optional(r[4])
	d.chars, errs[3] = integer(r[5])
	if err := errors.Join(errs[:]...); err != nil {
		return d, fmt.Errorf("%w: the dictionary describes column %q by %q: %w", extract.ErrQuery, d.name, r, err)
	}
	return d, nil
}

func integer(s string) (int, error) {
	n, err := optional(s)
	if n == nil {
		return 0, err
	}
	return *n, err
}

func optional(s string) (*int, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	return &n, err
}

// choose reduces the columns to the selection, in its order. Every fault is reported.
func choose(all []declared, sel extract.Selection) ([]extract.Column, error) {
	byName := map[string]declared{}
	names := sel.Columns
	for _, d := range all {
		byName[d.name] = d
		if sel.Columns == nil {
			names = append(names, d.name)
		}
	}
	var errs []error
	var out []extract.Column
	seen := map[string]bool{}
	for _, name := range names {
		d, ok := byName[name]
		switch {
		case !ok:
			errs = append(errs, noColumn(name, all))
			continue
		case seen[name]:
			errs = append(errs, fmt.Errorf("%w: column %q is listed twice", extract.ErrQuery, name))
			continue
		}
		seen[name] = true
		c, err := d.column(sel.Types)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, c)
	}
	for _, name := range sortedKeys(sel.Types) {
		if _, ok := byName[name]; !ok {
			errs = append(errs, fmt.Errorf("types: %w", noColumn(name, all)))
		}
	}
	return out, errors.Join(errs...)
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (d declared) column(types map[string]string) (extract.Column, error) {
	c := extract.Column{Name: d.name, Declared: d.text(), Nullable: d.nullable}
	var err error
	if to, ok := types[d.name]; ok {
		c.Type, err = d.override(to)
	} else {
		c.Type, err = d.travel()
	}
	return c, err
}

func noColumn(name string, all []declared) error {
	var have []string
	for _, d := range all {
		if strings.EqualFold(d.name, name) {
			return fmt.Errorf("column %q: %w; there is %q (names that are not upper case need double quotes)", name, extract.ErrNoColumn, d.name)
		}
		have = append(have, d.name)
	}
	if len(have) > 40 {
		have = append(have[:40], "...")
	}
	return fmt.Errorf("column %q: %w; the table has %s", name, extract.ErrNoColumn, strings.Join(have, ", "))
}
