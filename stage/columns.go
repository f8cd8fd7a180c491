package stage

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loadctl/loadctl/extract"
)

// Columns gives a table's columns the names that they have from here on: in files, staging table and target.
// It is the only place where a name changes, and the rule is: lower case, nothing else. Hive keeps names in
// lower case and Parquet readers compare exactly, so anything else reads as NULL somewhere.
//
// Refused, each by name and all at once: two columns that are one in lower case, and names with a character
// that Hive or Parquet cannot carry (see badRune). Nothing is renamed to something that its owner did not write.
func Columns(t *extract.Table) ([]Column, error) {
	cols := make([]Column, 0, len(t.Columns))
	source := make(map[string]string, len(t.Columns))
	var faults []error
	for _, c := range t.Columns {
		name := strings.ToLower(c.Name)
		if err := checkColumn(c.Name); err != nil {
			faults = append(faults, err)
			continue
		}
		if other, taken := source[name]; taken {
			faults = append(faults, fmt.Errorf("name columns %q and %q: both are %q in Hive, which knows no case; leave one out of the job's columns, or read a view that renames it: %w",
				other, c.Name, name, extract.ErrUnsupported))
			continue
		}
		source[name] = c.Name
		cols = append(cols, Column{Name: name, Source: c.Name, Type: c.Type})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return cols, nil
}

func checkColumn(name string) error {
	refuse := func(why string) error {
		return fmt.Errorf("name column %q: %s; leave it out of the job's columns, or read a view that renames it: %w", name, why, extract.ErrUnsupported)
	}
	switch {
	case name == "":
		return refuse("it is empty")
	case !utf8.ValidString(name):
		return refuse("it is not valid UTF-8")
	case strings.TrimSpace(name) != name:
		return refuse("Hive drops spaces around a name")
	}
	for _, r := range name {
		if why := badRune(r); why != "" {
			return refuse(why)
		}
	}
	return nil
}

// badRune says why a character cannot be in a name, or "".
func badRune(r rune) string {
	switch {
	case r == '.' || r == ':':
		return fmt.Sprintf("Hive fails on queries of a name with %q", r)
	case r == '`':
		return "a backtick ends a quoted name in Hive"
	case r == ',' || r == ';':
		return fmt.Sprintf("Hive and its clients take %q for the end of a name", r)
	case unicode.IsControl(r):
		return fmt.Sprintf("it holds the control character %U", r)
	case r == 'İ' || r == 'Σ':
		return fmt.Sprintf("the lower case of %q depends on locale and place, so Hive may see another name", r)
	}
	return ""
}
