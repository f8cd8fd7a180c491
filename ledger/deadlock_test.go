package ledger_test

import (
	"testing"

	"github.com/loadctl/loadctl/ledger"
)

// PostgreSQL breaks a deadlock by undoing one transaction; the decision starts again by itself.
func TestDeadlockIsRetriedFromTheStart(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	change(t, db, "INSERT INTO loadctl.load_slot (source, n) VALUES ('a', 1), ('b', 1)")
	l := db.Open(t, ledger.Config{})
	starts, err := l.DecideTwice(t.Context(), [2]string{"a", "b"})
	check(t, err)
	if starts < 3 {
		t.Fatalf("two decisions started %d times: PostgreSQL has undone none", starts)
	}
}
