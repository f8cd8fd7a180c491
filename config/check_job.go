package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checkJob compares a job's settings with each other and with the daemon's, where there is one.
func checkJob(d *document, j *Job, daemon *Daemon) {
	if daemon != nil {
		checkJobSource(d, j, daemon)
	}
	checkUnique(d, "source.columns", j.Source.Columns.Names)
	checkUnique(d, "metrics", j.Metrics.Names)
	checkListed(d, "metrics", j, j.Metrics.Names)
	checkSplit(d, j)
	checkPartition(d, j)
	j.Types = checkTypes(d, j)
}

func checkJobSource(d *document, j *Job, daemon *Daemon) {
	if !d.given("source.name") || !d.sound("source.name") {
		return
	}
	source, ok := daemon.Sources[j.Source.Name]
	if !ok {
		names := slices.Sorted(maps.Keys(daemon.Sources))
		hint := "sources of the daemon file: " + strings.Join(names, ", ")
		if near := nearest(j.Source.Name, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		d.fault("source.name", hint, "no source %q", j.Source.Name)
		return
	}
	if d.given("extract.workers") && d.sound("extract.workers") && j.Extract.Workers > source.MaxSessions {
		d.fault("extract.workers", "", "%d workers cannot have a session each: %s has max_sessions %d", j.Extract.Workers, j.Source.Name, source.MaxSessions)
	}
}

// checkUnique refuses names that are one name in the target, which does not tell cases apart.
func checkUnique(d *document, at string, names []Identifier) {
	seen := map[string]Identifier{}
	for i, n := range names {
		lower := strings.ToLower(n.Name)
		item := at + "[" + strconv.Itoa(i) + "]"
		if first, ok := seen[lower]; ok && n.Name == first.Name {
			d.fault(item, "", "%s is listed twice", n)
		} else if ok {
			d.fault(item, "leave one out, or give it another name in a view", "%s and %s are one column in Hive", first, n)
		}
		seen[lower] = n
	}
}

// checkListed refuses columns that the job does not read.
func checkListed(d *document, at string, j *Job, names []Identifier) {
	if j.Source.Columns.Names == nil {
		return
	}
	for i, n := range names {
		if n.Name != "" && !slices.Contains(j.Source.Columns.Exact(), n.Name) {
			d.fault(at+"["+strconv.Itoa(i)+"]", "add it there", "%s is not in source.columns", n)
		}
	}
}

func checkSplit(d *document, j *Job) {
	if !d.sound("split.strategy") {
		return
	}
	switch {
	case j.Split.Strategy == SplitRange && !d.given("split.column"):
		d.fault("split.column", "an indexed number, date or timestamp without gaps", "is required with strategy: range")
	case j.Split.Strategy == SplitSingle && d.given("split.column"):
		d.fault("split.column", "set strategy: range", "is not used with strategy: single")
	case j.Split.Strategy == SplitSingle && d.given("split.partitions") && d.sound("split.partitions") && j.Split.Partitions != 1:
		d.fault("split.partitions", "set strategy: range", "strategy: single is one partition")
	}
	if j.Split.Strategy == SplitSingle {
		j.Split.Partitions = 1
	}
}

// add reads one column of the partition.
func (p *PartitionTemplate) add(d *document, path, key, text string) {
	column := strings.ToLower(key)
	if !warehouseName.MatchString(column) {
		d.fault(path, "letters, digits and _", "%q is no partition column", key)
		return
	}
	if slices.ContainsFunc(*p, func(c PartitionColumn) bool { return c.Column == column }) {
		d.fault(path, "", "%s is there already, in another case", column)
		return
	}
	var value Template
	if err := value.UnmarshalText([]byte(text)); err != nil {
		d.reject(path, err)
		return
	}
	*p = append(*p, PartitionColumn{column, value})
}

func checkPartition(d *document, j *Job) {
	for _, p := range j.Target.Partition {
		for _, c := range j.Source.Columns.Names {
			if strings.EqualFold(c.Name, p.Column) {
				d.fault("target.partition", "leave it out of source.columns, or name the partition column otherwise", "%s is a source column too", p.Column)
			}
		}
	}
}

// checkTypes folds the names of columns as Oracle does.
func checkTypes(d *document, j *Job) map[string]TypeName {
	var out map[string]TypeName
	for _, key := range slices.Sorted(maps.Keys(j.Types)) {
		at := "types." + key
		if d.bad[at] {
			continue
		}
		var name Identifier
		if err := name.UnmarshalText([]byte(key)); err != nil {
			d.reject(at, err)
			continue
		}
		if _, twice := out[name.Name]; twice {
			d.fault(at, "", "%s has a type already", name.Name)
			continue
		}
		if listed := j.Source.Columns.Exact(); listed != nil && !slices.Contains(listed, name.Name) {
			d.fault(at, "", "%s is not in source.columns", name)
			continue
		}
		if out == nil {
			out = map[string]TypeName{}
		}
		out[name.Name] = j.Types[key]
	}
	return out
}

// jobWarnings are what is odd but may be meant.
func jobWarnings(d *document, j *Job) Faults {
	byDate := slices.ContainsFunc(j.Target.Partition, func(p PartitionColumn) bool { return !p.Value.Static() })
	if byDate || !j.Source.Where.usesDate() {
		return nil
	}
	p := d.place("target")
	return Faults{{d.file, p.line, p.column, "target.partition", "every date replaces the rows of the date before",
		`the rows are chosen by date but the target is not; add a partition, as in load_date: "{date}"`}}
}

func (e Expression) usesDate() bool {
	return slices.ContainsFunc(e.tokens, func(t token) bool { return t.kind == tokenPlaceholder })
}
