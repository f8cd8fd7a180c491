package ledger_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

func TestEveryStatementCanBePrepared(t *testing.T) {
	t.Parallel()
	db := ledgertest.New(t)
	conn, err := pgx.Connect(t.Context(), db.Owner)
	check(t, err)
	defer conn.Close(t.Context())
	ledger.PrepareAll(t.Context(), t, conn)
}
