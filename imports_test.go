package loadctl

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/loadctl/loadctl"

// rule is what the packages at and below one path may import of ours.
type rule struct {
	path string
	may  []string
	why  string
}

// rules are the table of the design, most specific first: the first whose path holds a package decides. Imports follow
// the data downstream, and nothing points back. A rule lets a package import what lies below its own path.
var rules = []rule{
	{"config", nil, "config is a leaf: everybody may read it, so it reads nobody"},
	{"ledger", nil, "the ledger decides about runs and has no word for Oracle, HDFS or Hive"},
	{"extract/oracle", []string{"extract", "config"}, "an adapter knows its port and those upstream of it"},
	{"extract", nil, "the first port: nothing is upstream of it"},
	{"stage/parquet", []string{"stage", "extract"}, "the file format knows no store"},
	{"stage/hdfs", []string{"stage", "extract", "config"}, "an adapter knows its port and those upstream of it"},
	{"stage/local", []string{"stage", "extract", "config"}, "an adapter knows its port and those upstream of it"},
	{"stage", []string{"extract"}, "staging is downstream of extraction and upstream of publishing"},
	{"publish/hive", []string{"publish", "stage", "extract", "config"}, "an adapter knows its port and those upstream of it"},
	{"publish/files", []string{"publish", "stage", "stage/parquet", "extract", "config"}, "an adapter knows its port and those upstream of it"},
	{"publish", []string{"stage", "extract"}, "publishing is downstream of staging; the ledger is not its business"},
	{"pipeline", []string{"extract", "stage", "publish", "ledger"}, "the pipeline knows ports, never an adapter, and no configuration"},
	{"api", []string{"ledger", "pipeline"}, "HTTP shows and asks; it moves no data"},
	{"cmd", []string{"..."}, "commands wire everything together"},
	{"integration/orasim", nil, "the stand-in shares nothing with the product, or it would share its mistakes"},
	{"integration", []string{"..."}, "what is real in tests may look everywhere"},
}

// conformance suites and private test servers stand beside a port and are for tests alone.
var suites = []string{"extract/extracttest", "stage/stagetest", "publish/publishtest", "ledger/ledgertest"}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// TestImports holds the design's table of who may import whom. Tests of a package may import more than the package: its
// suite, and what is real in integration.
func TestImports(t *testing.T) {
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		r, ok := find(path)
		if !ok {
			if path != p.ImportPath {
				t.Errorf("%s is in no row of the import table: add one, with its reason", path)
			}
			continue
		}
		for _, i := range ours(p.Imports) {
			if !r.allows(path, i) {
				t.Errorf("%s imports %s: %s", path, i, r.why)
			}
		}
	}
}

// TestProductImportsNoTestEquipment: what runs in production depends on nothing that exists for tests.
func TestProductImportsNoTestEquipment(t *testing.T) {
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(path, "integration") || slices.Contains(suites, path) {
			continue
		}
		for _, i := range ours(p.Imports) {
			if strings.HasPrefix(i, "integration") || slices.Contains(suites, i) {
				t.Errorf("%s imports %s, which is for tests", path, i)
			}
		}
	}
}

func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages: the test looks at nothing", len(all))
	}
	return all
}

func ours(imports []string) []string {
	var out []string
	for _, i := range imports {
		if rest, ok := strings.CutPrefix(i, module+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

func find(path string) (rule, bool) {
	for _, r := range rules {
		if within(path, r.path) {
			return r, true
		}
	}
	return rule{}, false
}

// allows says whether a package under the rule may import another. A permitted path stands for itself and what lies
// below it, except adapters, which must be named.
func (r rule) allows(from, to string) bool {
	if within(to, r.path) {
		return true
	}
	if slices.Contains(suites, from) && within(from, strings.Split(to, "/")[0]) {
		return true // a suite may import its own port
	}
	for _, may := range r.may {
		if may == "..." || may == to {
			return true
		}
	}
	return false
}

func within(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }
