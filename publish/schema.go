package publish

import (
	"fmt"
	"strings"
)

// Field is a column in a warehouse's own words.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// ColumnDifferences names every difference between the columns that a table has and those that a plan wants.
// Their order is no difference: columns are named wherever they are used.
func ColumnDifferences(have, want []Field) []string {
	types := make(map[string]string, len(have))
	for _, c := range have {
		types[c.Name] = c.Type
	}
	var out []string
	for _, c := range want {
		typ, ok := types[c.Name]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("column %q (%s) is missing", c.Name, c.Type))
		case typ != c.Type:
			out = append(out, fmt.Sprintf("column %q is %s, the plan has %s", c.Name, typ, c.Type))
		}
		delete(types, c.Name)
	}
	for _, c := range have { // in the table's order
		if _, left := types[c.Name]; left {
			out = append(out, fmt.Sprintf("column %q (%s) is not in the plan", c.Name, c.Type))
		}
	}
	return out
}

// PartitionDifference says how the columns that a table is partitioned by differ from those of a target, or "".
// Their order is a difference: it is the order of directories.
func PartitionDifference(have []string, want []PartitionValue) string {
	names := make([]string, len(want))
	for i, p := range want {
		names[i] = strings.ToLower(p.Column)
	}
	if h, w := strings.Join(have, ", "), strings.Join(names, ", "); h != w {
		return fmt.Sprintf("it is partitioned by (%s), the plan by (%s)", h, w)
	}
	return ""
}

// SchemaError joins differences into one ErrSchema that names the table; nil for none.
func SchemaError(database, table string, differences []string) error {
	if len(differences) == 0 {
		return nil
	}
	return fmt.Errorf("table %s.%s: %w: %s", database, table, ErrSchema, strings.Join(differences, "; "))
}
