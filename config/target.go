package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ID names the warehouse in target ids.
func (w Warehouse) ID() string {
	if w.Files != nil {
		return "files:" + w.Files.Root
	}
	if w.Hive != nil {
		return "hive:" + w.Hive.Name
	}
	return ""
}

// PartitionValue is one column of a partition with its value.
type PartitionValue struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// TargetID is the canonical name of what a run replaces: warehouse, table, and the partition with its columns
// in order of name. Two runs with one id must not be active at once.
func TargetID(warehouse string, table TargetTable, partition []PartitionValue) string {
	parts := make([]string, 0, len(partition))
	for _, p := range partition {
		parts = append(parts, p.Column+"="+url.PathEscape(canonicalValue(p.Value)))
	}
	slices.Sort(parts)
	return strings.Join(append([]string{warehouse, table.String()}, parts...), "/")
}

// canonicalValue makes values equal that Hive takes for one in a column of a number type: 01 and 1. Where the
// column is text this only makes two targets busy that need not be, never the other way round.
func canonicalValue(v string) string {
	v = strings.TrimSpace(v)
	if strings.Trim(v, "0123456789") != "" || v == "" {
		return v
	}
	if short := strings.TrimLeft(v, "0"); short != "" {
		return short
	}
	return "0"
}

// loaded is a job with its file.
type loaded struct {
	job Job
	doc *document
}

// compare reports at l what it shares with a job read before.
func (l loaded) compare(other loaded) {
	if !l.doc.given("job") || !other.doc.given("job") {
		return
	}
	where := fmt.Sprintf("%s:%d", other.doc.file, other.doc.place("job").line)
	if strings.EqualFold(string(l.job.Name), string(other.job.Name)) && l.job.Name != "" {
		l.doc.fault("job", "names differ by more than case", "%s is the job of %s too", l.job.Name, where)
		return
	}
	if l.doc.sound("target") && other.doc.sound("target") && overlap(l.job.Target, other.job.Target) {
		l.doc.fault("target.table", "give each job a table, or a partition with another fixed value",
			"%s is the target of job %s too (%s)", l.job.Target.Table, other.job.Name, where)
	}
}

// overlap says that two targets can be the same partition of a table on some date, or that one contains the
// other.
func overlap(a, b Target) bool {
	if a.Table != b.Table || a.Table == (TargetTable{}) {
		return false
	}
	for _, x := range a.Partition {
		for _, y := range b.Partition {
			if x.Column == y.Column && disjoint(x.Value, y.Value) {
				return false
			}
		}
	}
	return true
}

// disjoint says that two templates never give the same value. When in doubt it says no.
func disjoint(a, b Template) bool {
	switch {
	case a.Static() && b.Static():
		return canonicalValue(a.String()) != canonicalValue(b.String())
	case a.Static():
		return !b.pattern().MatchString(a.String())
	case b.Static():
		return !a.pattern().MatchString(b.String())
	}
	return false
}

var layoutDigits = strings.NewReplacer("2006", `\d{4}`, "01", `\d{2}`, "02", `\d{2}`, ".", `\.`)

// pattern matches every value that the template can give.
func (t Template) pattern() *regexp.Regexp {
	var b strings.Builder
	for _, p := range t.parts {
		if p.layout == "" {
			b.WriteString(regexp.QuoteMeta(p.literal))
		} else {
			b.WriteString(layoutDigits.Replace(p.layout))
		}
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}
