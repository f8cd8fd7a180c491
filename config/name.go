package config

import (
	"regexp"
	"strings"
	"unicode"
)

// maxIdentifier is the longest name in Oracle since 12.2, in bytes.
const maxIdentifier = 128

// Identifier is a name as Oracle reads it: folded to upper case unless it was written in double quotes.
type Identifier struct {
	Name   string // exact, as in the dictionary
	Quoted bool   // written in double quotes
}

// UnmarshalText reads one name.
func (i *Identifier) UnmarshalText(text []byte) error {
	parts, err := splitName(string(text))
	if err != nil {
		return err
	}
	if len(parts) != 1 {
		return refuse("%q has %d parts, one is wanted", text, len(parts)).hint(quoteAdvice)
	}
	*i = parts[0]
	return nil
}

// String is the name as one would write it: quoted where it was.
func (i Identifier) String() string {
	if i.Quoted {
		return `"` + i.Name + `"`
	}
	return i.Name
}

// MarshalText is String.
func (i Identifier) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// IsZero says that there is no name.
func (i Identifier) IsZero() bool { return i.Name == "" }

// TableName is table or schema.table as Oracle reads it. An empty schema is the login's own.
type TableName struct {
	Schema       string // exact, "" when none was written
	Name         string // exact
	SchemaQuoted bool
	NameQuoted   bool
}

// UnmarshalText reads table or schema.table, each plain or in double quotes.
func (t *TableName) UnmarshalText(text []byte) error {
	parts, err := splitName(string(text))
	if err != nil {
		return err
	}
	switch len(parts) {
	case 1:
		*t = TableName{Name: parts[0].Name, NameQuoted: parts[0].Quoted}
	case 2:
		*t = TableName{parts[0].Name, parts[1].Name, parts[0].Quoted, parts[1].Quoted}
	default:
		return refuse("%q has %d parts", text, len(parts)).hint("write table or schema.table; " + quoteAdvice)
	}
	return nil
}

// String is the name as one would write it.
func (t TableName) String() string {
	name := Identifier{t.Name, t.NameQuoted}.String()
	if t.Schema == "" {
		return name
	}
	return Identifier{t.Schema, t.SchemaQuoted}.String() + "." + name
}

// MarshalText is String.
func (t TableName) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

const quoteAdvice = `a name with other characters than letters, digits, _, $ and # is written in double quotes, as in '"my.table"'`

// splitName reads a dotted name.
func splitName(text string) ([]Identifier, error) {
	var parts []Identifier
	for rest := text; ; {
		part, after, err := nextName(rest, text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if after == "" {
			return parts, nil
		}
		if after[0] != '.' {
			return nil, refuse("%q has %q after a closing quote", text, after).hint(quoteAdvice)
		}
		rest = after[1:]
	}
}

// nextName reads the first name of rest, which is a part of whole.
func nextName(rest, whole string) (id Identifier, after string, err error) {
	if strings.HasPrefix(rest, `"`) {
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return id, "", refuse("%q has an unpaired double quote", whole).hint(quoteAdvice)
		}
		id, after = Identifier{rest[1 : 1+end], true}, rest[end+2:]
	} else {
		end := strings.IndexByte(rest, '.')
		if end < 0 {
			end = len(rest)
		}
		id, after = Identifier{rest[:end], false}, rest[end:]
		if strings.Contains(id.Name, `"`) {
			return id, "", refuse("%q has an unpaired double quote", whole).hint(quoteAdvice)
		}
	}
	if err := id.check(whole); err != nil {
		return id, "", err
	}
	if !id.Quoted {
		id.Name = strings.ToUpper(id.Name)
	}
	return id, after, nil
}

func (i Identifier) check(whole string) error {
	switch {
	case i.Name == "":
		return refuse("%q has an empty part", whole).hint(quoteAdvice)
	case len(i.Name) > maxIdentifier:
		return refuse("%.20q... is longer than %d bytes", i.Name, maxIdentifier)
	case strings.ContainsFunc(i.Name, unicode.IsControl):
		return refuse("%q has a control character", whole)
	case i.Quoted:
		return nil
	case strings.Contains(i.Name, "@"):
		return refuse("%q looks like a database link, which is not supported", whole).hint("read a view, or quote the name")
	}
	for n, r := range i.Name {
		if unicode.IsLetter(r) || n > 0 && (unicode.IsDigit(r) || strings.ContainsRune("_$#", r)) {
			continue
		}
		return refuse("%q is no plain name because of %q", whole, r).hint(quoteAdvice)
	}
	return nil
}

// JobName names a job in commands, paths and messages.
type JobName string

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// UnmarshalText reads a name that is safe as a directory, in a URL and on a command line.
func (n *JobName) UnmarshalText(text []byte) error {
	if err := checkPlainName(string(text)); err != nil {
		return err
	}
	*n = JobName(text)
	return nil
}

func checkPlainName(name string) error {
	if plainName.MatchString(name) {
		return nil
	}
	return refuse("%.80q is no name", name).hint("ASCII letters, digits, '.', '_' and '-', at most 64, the first a letter or digit")
}

// TargetTable is a table of the warehouse, in lower case: Hive does not tell cases apart.
type TargetTable struct{ Database, Table string }

var warehouseName = regexp.MustCompile(`^[a-z0-9_]{1,128}$`)

// UnmarshalText reads database.table.
func (t *TargetTable) UnmarshalText(text []byte) error {
	db, table, ok := strings.Cut(strings.ToLower(string(text)), ".")
	if !ok {
		return refuse("%q does not name its database", text).hint("write database.table")
	}
	if !warehouseName.MatchString(db) || !warehouseName.MatchString(table) {
		return refuse("%q is no table of the warehouse", text).hint("write database.table, each of letters, digits and _")
	}
	*t = TargetTable{db, table}
	return nil
}

// String is database.table.
func (t TargetTable) String() string {
	if t == (TargetTable{}) {
		return ""
	}
	return t.Database + "." + t.Table
}

// MarshalText is String.
func (t TargetTable) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
