package pipeline

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
)

// TestEverySentinelHasAClass reads the sources: each exported sentinel of the ports, the ledger and this package must
// be named in Classes.
func TestEverySentinelHasAClass(t *testing.T) {
	named := identifiers(t, "class.go")
	count := 0
	for _, dir := range []string{"../extract", "../stage", "../publish", "../ledger", "."} {
		for _, name := range sentinels(t, dir) {
			count++
			if dir != "." {
				name = filepath.Base(dir) + "." + name
			}
			if !slices.Contains(named, name) {
				t.Errorf("%s is in no row of Classes", name)
			}
		}
	}
	if count < 30 {
		t.Errorf("%d sentinels found: the test looks at nothing", count)
	}
}

// sentinels lists the exported variables of a package that begin with Err.
func sentinels(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(id.Name, "Err") {
						out = append(out, id.Name)
					}
				}
			}
		}
	}
	return out
}

// identifiers lists what the slice literals of errors in a file name.
func identifiers(t *testing.T, name string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, e := range lit.Elts {
			switch e := e.(type) {
			case *ast.Ident:
				out = append(out, e.Name)
			case *ast.SelectorExpr:
				if x, ok := e.X.(*ast.Ident); ok {
					out = append(out, x.Name+"."+e.Sel.Name)
				}
			}
		}
		return true
	})
	return out
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		code string
		kind Kind
		exit int
	}{
		{fmt.Errorf("read: %w", extract.ErrSnapshotTooOld), "SNAPSHOT_EXPIRED", Expired, ExitFailed},
		{errors.Join(extract.ErrUnreachable, publish.ErrUnreachable), "UNREACHABLE", Transient, ExitUnreachable},
		{errors.Join(extract.ErrUnreachable, extract.ErrAuth), "LOGIN", Permanent, ExitUnreachable},
		{fmt.Errorf("send: %w", errors.Join(publish.ErrUnknown, publish.ErrUnreachable)), "PUBLISH_UNKNOWN", Unknown, ExitUnknown},
		{&ledger.DuplicateError{}, "DUPLICATE_ACTIVE_RUN", Permanent, ExitDuplicate},
		{&ledger.ClaimMismatchError{}, "STALE", Stale, ExitFailed},
		{fmt.Errorf("%w: no --job", ErrUsage), "USAGE", Permanent, ExitUsage},
		{errors.New("something else"), "INTERNAL", Permanent, ExitFailed},
	} {
		got := Classify(c.err)
		if got.Code != c.code || got.Kind != c.kind || got.Exit != c.exit {
			t.Errorf("Classify(%v) = %s %s %d, want %s %s %d", c.err, got.Code, got.Kind, got.Exit, c.code, c.kind, c.exit)
		}
	}
}

func TestClassesAreConsistent(t *testing.T) {
	codes := map[string]bool{}
	for _, c := range append(slices.Clone(Classes), internal) {
		if c.Code == "" || c.Kind == "" || c.Meaning == "" || codes[c.Code] {
			t.Errorf("class %q is unnamed, twice there, or says nothing", c.Code)
		}
		codes[c.Code] = true
		if !slices.ContainsFunc(ExitCodes, func(e ExitCode) bool { return e.Code == c.Exit }) {
			t.Errorf("class %s exits with %d, which is not promised", c.Code, c.Exit)
		}
		if found, ok := ClassByCode(c.Code); c.Code != "INTERNAL" && (!ok || found.Code != c.Code) {
			t.Errorf("ClassByCode(%s) finds %v", c.Code, found.Code)
		}
	}
}

// TestRecordedCodes: what the ledger writes as the class of a run that ended by its own word is in the table.
func TestRecordedCodes(t *testing.T) {
	for code, want := range map[string]string{
		ledger.ReasonSum: "MANIFEST", ledger.ReasonIndex: "MANIFEST", ledger.ReasonNullSlice: "MANIFEST", ledger.ReasonEmptyRefused: "EMPTY_REFUSED",
		ledger.CodeLedgerMismatch: "LEDGER_MISMATCH", ledger.CodePublishUnknown: "PUBLISH_UNKNOWN", "CANCELLED": "CANCELLED", "TIMED_OUT": "TIMED_OUT",
	} {
		if got, ok := ClassByCode(code); !ok || got.Code != want {
			t.Errorf("ClassByCode(%s) = %q, %t, want %s", code, got.Code, ok, want)
		}
	}
	if got, ok := ClassByCode("SOMETHING_ELSE"); ok {
		t.Errorf("an unknown code is taken for %s", got.Code)
	}
}
