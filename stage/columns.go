package stage

import (
	"errors"
	"fmt"
	"slices"
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
	case slices.Contains(virtualColumns(), strings.ToLower(name)):
		return refuse("Hive has a virtual column of that name")
	}
	for _, r := range name {
		if why := badRune(r); why != "" {
			return refuse(why)
		}
	}
	return nil
}

// virtualColumns are those that every Hive table has of itself (Hive 4's VirtualColumn).
func virtualColumns() []string {
	return []string{
		"input__file__name", "block__offset__inside__file", "row__offset__inside__block", "raw__data__size", "row__id",
		"row__is__deleted", "grouping__id", "partition__spec__id", "partition__hash", "file__path", "row__position",
		"partition__projection", "snapshot__id",
	}
}

// badRune says why a character cannot be in a name, or "".
//
// Tried on Hive 4.0.1, a table a name, by SELECT * and by the column's name: parquet-mr, inside it, writes the schema as
// text and reads it again with its separators, so that space, tab, newline and ; { } ( ) = fail; a comma separates names
// in the table's properties, and the column reads as NULL; . and : fail in CREATE TABLE, NUL in the metastore; carriage
// return, U+0085 and U+2028 fail in SELECT *. The backtick, U+0001, U+007F, U+00A0, U+2003 and U+3000 were tried and can
// be read: they are refused with the rest of their kind, because what cannot be seen cannot be typed again, and because a
// name is quoted in more places than ours. Not tried: other control characters and spaces, and İ and Σ, whose lower case
// Java and Go make by different rules.
func badRune(r rune) string {
	switch {
	case unicode.IsControl(r):
		return fmt.Sprintf("it holds the control character %U", r)
	case strings.ContainsRune(" ;{}()=", r):
		return fmt.Sprintf("Hive fails to read a Parquet column with %q in its name", r)
	case unicode.IsSpace(r):
		return fmt.Sprintf("it holds the space %U, which cannot be told from others", r)
	case r == ',':
		return "Hive reads NULL in a Parquet column with a comma in its name"
	case r == '.' || r == ':':
		return fmt.Sprintf("Hive creates no table with %q in a column's name", r)
	case r == '`':
		return "it holds a backtick, which quotes names in Hive"
	case r == 'İ' || r == 'Σ':
		return fmt.Sprintf("the lower case of %q depends on locale and place, so Hive may see another name", r)
	}
	return ""
}
