package config

import (
	"regexp"
	"strings"
	"unicode"
)

// PartitionColumn is one column of a target's partition and the template of its value.
type PartitionColumn struct {
	Column string   `json:"column"` // lower case
	Value  Template `json:"value"`
}

// PartitionTemplate is a target's partition, in the table's order; empty for an unpartitioned table.
type PartitionTemplate []PartitionColumn

// Template is text with placeholders: {date} is the business date as 2026-09-28, {date:yyyyMMdd} the same in
// another form (of yyyy, MM, dd and - _ . or nothing between), {key} the business key.
type Template struct{ parts []templatePart }

// templatePart is literal text, or a placeholder with its layout.
type templatePart struct {
	literal string
	layout  string // Go's layout of the date; "" for literal text
	source  string // as written
}

var (
	placeholder = regexp.MustCompile(`\{[^{}]*\}`)
	dateForm    = regexp.MustCompile(`^(?:yyyy|MM|dd|[-_.])+$`)
	goLayout    = strings.NewReplacer("yyyy", "2006", "MM", "01", "dd", "02")
)

// UnmarshalText reads a template.
func (t *Template) UnmarshalText(text []byte) error {
	s := string(text)
	var parts []templatePart
	literal := func(l string) error {
		if strings.ContainsAny(l, "{}") {
			return refuse("%q has an unpaired brace", s).hint(templateAdvice)
		}
		if l != "" {
			parts = append(parts, templatePart{literal: l, source: l})
		}
		return nil
	}
	last := 0
	for _, m := range placeholder.FindAllStringIndex(s, -1) {
		if err := literal(s[last:m[0]]); err != nil {
			return err
		}
		layout, err := parsePlaceholder(s[m[0]:m[1]])
		if err != nil {
			return err
		}
		parts = append(parts, templatePart{layout: layout, source: s[m[0]:m[1]]})
		last = m[1]
	}
	if err := literal(s[last:]); err != nil {
		return err
	}
	switch {
	case len(parts) == 0:
		return refuse("an empty partition value").hint("Hive would store it as its default partition")
	case strings.ContainsFunc(s, unicode.IsControl):
		return refuse("%q has a control character", s)
	case s == "__HIVE_DEFAULT_PARTITION__":
		return refuse("%q is Hive's word for no value", s)
	}
	t.parts = parts
	return nil
}

const templateAdvice = "placeholders are {date}, {date:yyyyMMdd} and {key}"

// parsePlaceholder is the date layout of {date}, {date:FORM} or {key}.
func parsePlaceholder(p string) (string, error) {
	body := strings.Trim(p, "{}")
	name, form, formed := strings.Cut(body, ":")
	switch {
	case (name == "date" || name == "key") && !formed:
		return dateLayout, nil
	case name == "date" && dateForm.MatchString(form):
		return goLayout.Replace(form), nil
	case name == "date":
		return "", refuse("%q is no form of a date", form).hint("made of yyyy, MM, dd and - _ . between them")
	}
	return "", refuse("%q is no placeholder", p).hint(templateAdvice)
}

// Render fills the placeholders in.
func (t Template) Render(d Date) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.layout == "" {
			b.WriteString(p.literal)
		} else {
			b.WriteString(d.format(p.layout))
		}
	}
	return b.String()
}

// Static says that the value has no placeholder.
func (t Template) Static() bool {
	for _, p := range t.parts {
		if p.layout != "" {
			return false
		}
	}
	return true
}

// String is the template as written.
func (t Template) String() string {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.source)
	}
	return b.String()
}

// MarshalText is String.
func (t Template) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
