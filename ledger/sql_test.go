package ledger

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// statementNames are the embedded statements.
func statementNames(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(sqlFiles, "sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("embedded statements: %v, %v", files, err)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(filepath.Base(f), ".sql")
	}
	return names
}

// PrepareAll prepares every statement on a connection. It is exported to the tests that have a database.
func PrepareAll(ctx context.Context, t *testing.T, conn *pgx.Conn) {
	for _, name := range statementNames(t) {
		sql, _, err := pgx.NamedArgs{}.RewriteQuery(ctx, conn, statement(name), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := conn.Prepare(ctx, name, sql); err != nil {
			t.Errorf("prepare %s: %v", name, err)
		}
	}
}

func TestStatementsAreUsedAndThere(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:exec|execOne|one|many|found)(?:\[[^\]]+\])?\(ctx, (?:tx, |db, |[ls]\.pool, )?"([a-z_]+)"`)
	used := map[string]bool{}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
	}
	for _, name := range statementNames(t) {
		if !used[name] {
			t.Errorf("sql/%s.sql is never used", name)
		}
		if n := strings.Count(statement(name), ";"); n > 0 {
			t.Errorf("sql/%s.sql has %d semicolons, want one statement without", name, n)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("statement %s is used and is no file", name)
	}
}
