package ledger

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// args are the named arguments of a statement; a missing or superfluous name is an error.
type args = pgx.StrictNamedArgs

// querier is a transaction or the pool.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// statement is the text of sql/<name>.sql. A test checks that every name used is a file and every file is used.
func statement(name string) string {
	text, err := sqlFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("statement %s is not embedded", name))
	}
	return string(text)
}

// exec runs a statement and returns the number of rows it touched.
func exec(ctx context.Context, db querier, name string, a args) (int64, error) {
	tag, err := db.Exec(ctx, statement(name), named(a)...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return tag.RowsAffected(), nil
}

// execOne runs a statement that must touch exactly one row, because that row is locked and was just looked at.
func execOne(ctx context.Context, db querier, name string, a args) error {
	n, err := exec(ctx, db, name, a)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %d rows touched, want 1", name, n)
	}
	return err
}

// one returns the only row of a statement, by column name; found is false if there is none.
func one[T any](ctx context.Context, db querier, name string, a args) (row T, found bool, err error) {
	rows, err := many[T](ctx, db, name, a)
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	if len(rows) > 1 {
		return row, false, fmt.Errorf("%s: %d rows, want one", name, len(rows))
	}
	return rows[0], true, nil
}

// many returns the rows of a statement, by column name.
func many[T any](ctx context.Context, db querier, name string, a args) ([]T, error) {
	rows, err := db.Query(ctx, statement(name), named(a)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func named(a args) []any {
	if a == nil {
		return nil
	}
	return []any{a}
}
