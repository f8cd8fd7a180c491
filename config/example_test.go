package config

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestExampleLoads(t *testing.T) {
	c, err := Load("example/loadd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	r, err := c.Resolve("INSP_DTL", date(t, "2026-09-28"))
	if err != nil {
		t.Fatal(err)
	}
	want := Resolved{
		Job: "INSP_DTL", Key: "2026-09-28", Timezone: "Asia/Seoul",
		Source: "core", Schema: "APP", Table: "INSP_DTL",
		Where:    "INSP_DT >= DATE '2026-09-28' AND INSP_DT < DATE '2026-09-28' + 1",
		Strategy: SplitRange, SplitColumn: "SEQ", Partitions: 8,
		StoreRoot: "/var/lib/loadctl/store", Warehouse: "files:/var/lib/loadctl/warehouse",
		TargetID: "files:/var/lib/loadctl/warehouse/lake.insp_dtl/load_date=2026-09-28",
		Database: "lake", TargetTable: "insp_dtl", Partition: []PartitionValue{{"load_date", "2026-09-28"}},
		Create: CreateIfMissing, Mode: InsertOverwrite, Metrics: MetricsDefault,
		MaxRows: 5_000_000, TargetBytes: 128 << 20, Workers: 4,
		QueryTimeout: 6 * time.Hour, StallTimeout: 10 * time.Minute, MaxAttempts: 3, RunTimeout: 12 * time.Hour,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

// commented is a setting that is commented out, or an item of a list below one.
var commented = regexp.MustCompile(`(?m)^( *)#([A-Za-z_.]+:|- )`)

// The examples, with every commented setting switched on, have each setting of the structs, and what they call
// a default is the default.
func TestExampleIsWhole(t *testing.T) {
	for file, root := range map[string]any{"example/loadd.yaml": &Daemon{}, "example/jobs/insp_dtl.yaml": &Job{}} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc := newDocument(file, root)
		if !doc.decode(commented.ReplaceAll(text, []byte("$1$2"))) || len(doc.faults) > 0 {
			t.Fatalf("%s, all switched on:\n%v", file, doc.faults)
		}
		for _, path := range paths(reflect.TypeOf(root).Elem(), "") {
			if !slices.ContainsFunc(given(doc), func(p string) bool { return p == path }) {
				t.Errorf("%s does not show %s", file, path)
			}
		}
		compareDefaults(t, doc, commentedPaths(t, file, root, text))
	}
}

// given are the settings that a document has, names in maps left out.
func given(doc *document) []string {
	named := regexp.MustCompile(`^sources\.core\b\.?`)
	var out []string
	for p := range doc.at {
		out = append(out, named.ReplaceAllString(p, "sources."))
	}
	return append(out, "sources")
}

// commentedPaths are the settings that the file as it is leaves out.
func commentedPaths(t *testing.T, file string, root any, text []byte) func(path string) bool {
	t.Helper()
	plain := newDocument(file, reflect.New(reflect.TypeOf(root).Elem()).Interface())
	if !plain.decode(text) || len(plain.faults) > 0 {
		t.Fatalf("%s: %v", file, plain.faults)
	}
	return func(path string) bool { return !plain.given(path) }
}

func compareDefaults(t *testing.T, doc *document, isCommented func(string) bool) {
	t.Helper()
	root := reflect.ValueOf(doc.root).Elem()
	checked := 0
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		for _, s := range settings(v.Type()) {
			f, full := v.FieldByIndex(s.field.Index), join(path, s.name)
			if f.Kind() == reflect.Pointer {
				f = f.Elem()
			}
			if f.Kind() == reflect.Map && f.Len() == 1 && section(f.Type().Elem()) {
				key := f.MapKeys()[0]
				f, full = f.MapIndex(key), join(full, key.String())
			}
			switch {
			case section(f.Type()):
				walk(f, full)
			case s.def != "" && isCommented(full):
				checked++
				want := reflect.New(f.Type()).Elem()
				if err := setText(want, s.def); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(f.Interface(), want.Interface()) {
					t.Errorf("%s shows %s as %s, the default is %s", doc.file, full, show(f), show(want))
				}
			}
		}
	}
	walk(root, "")
	if checked == 0 {
		t.Errorf("%s: no default compared", doc.file)
	}
}

// Each default lies in its range, and every range has two ends.
func TestDefaultsAreInRange(t *testing.T) {
	for _, root := range roots() {
		eachSetting(root, "", func(path string, s setting) {
			if (s.min == "") != (s.max == "") {
				t.Errorf("%s: a range with one end", path)
			}
			if s.def == "" {
				return
			}
			v := reflect.New(s.field.Type).Elem()
			if err := setText(v, s.def); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			doc := newDocument("", nil)
			doc.checkRange(v, s, path)
			if len(doc.faults) > 0 {
				t.Error(doc.faults)
			}
		})
	}
}

func eachSetting(t reflect.Type, path string, do func(path string, s setting)) {
	for _, s := range settings(t) {
		full := join(path, s.name)
		do(full, s)
		if ft := held(s.field.Type); section(ft) {
			eachSetting(ft, full, do)
		}
	}
}

func date(t *testing.T, text string) Date {
	t.Helper()
	d, err := ParseDate(text, time.Time{}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
