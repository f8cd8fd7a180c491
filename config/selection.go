package config

// Columns says which columns of a table are read: all of them, in the table's order, or those listed.
type Columns struct{ Names []Identifier } // nil means all

// UnmarshalText reads the word all.
func (c *Columns) UnmarshalText(text []byte) error {
	if string(text) != "all" {
		return refuse("%q is neither all nor a list", text).hint("write all, or [A, B]")
	}
	c.Names = nil
	return nil
}

func (c *Columns) setList(names []Identifier) { c.Names = names }

// Exact are the names as in the dictionary; nil means all.
func (c Columns) Exact() []string { return exact(c.Names) }

// MetricSet is which columns are compared by sums and extremes.
type MetricSet string

// Metric sets.
const (
	MetricsDefault MetricSet = "default" // the split column and decimals of up to 18 digits
	MetricsAll     MetricSet = "all"
	MetricsList    MetricSet = "list"
)

// Metrics is a set, with its columns when it is a list.
type Metrics struct {
	Set   MetricSet
	Names []Identifier
}

// UnmarshalText reads default or all.
func (m *Metrics) UnmarshalText(text []byte) error {
	if err := (Words{Accepted: []string{"default", "all"}}).check(string(text)); err != nil {
		return refuse("%q is neither default, all nor a list", text).hint("write default, all, or [A, B]")
	}
	*m = Metrics{Set: MetricSet(text)}
	return nil
}

func (m *Metrics) setList(names []Identifier) { *m = Metrics{Set: MetricsList, Names: names} }

// Exact are the listed names as in the dictionary.
func (m Metrics) Exact() []string { return exact(m.Names) }

func exact(names []Identifier) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n.Name
	}
	return out
}
