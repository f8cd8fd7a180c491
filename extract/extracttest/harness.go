// Package extracttest is what it means to be an extract.Source. An adapter's test gives Run a Harness, which
// makes tables in a real or simulated database and breaks it on request; the suite knows no SQL.
package extracttest

import (
	"testing"

	"github.com/loadctl/loadctl/extract"
)

// Harness is a database under test, one for each test.
type Harness interface {
	// Source connects as a user who may read the tables that Create makes, and see them as of a snapshot.
	Source(t *testing.T) extract.Source
	// Broken connects in a way that the database or the network refuses.
	Broken(t *testing.T, how Refusal) extract.Source

	// Create makes a table and commits. Types are those of extract; key columns are not NULL.
	Create(t *testing.T, table extract.TableName, columns []extract.Column, key ...string)
	// Private makes a table that the user of Source may not read.
	Private(t *testing.T, table extract.TableName, columns []extract.Column)
	// Insert adds rows and commits. A nil value is NULL; others are canonical text.
	Insert(t *testing.T, table extract.TableName, rows [][]*string)
	// Delete removes the rows whose column has the value, and commits.
	Delete(t *testing.T, table extract.TableName, column, value string)

	// Forget makes the database unable to show any instant before now.
	Forget(t *testing.T)
	// EndEarly makes the next stream of the table end after n rows as if they were all.
	EndEarly(t *testing.T, table extract.TableName, n int)
	// Stall makes the next stream of the table stop after n rows and stay silent. The channel is closed when it has.
	Stall(t *testing.T, table extract.TableName, n int) <-chan struct{}
	// Cut breaks the connection of the next stream of the table after n rows.
	Cut(t *testing.T, table extract.TableName, n int)
}

// Refusal is a way in which no session comes about.
type Refusal int

// Refusals.
const (
	WrongPassword Refusal = iota
	Nobody                // nothing listens at the address
)

// Schema is where the suite's tables are.
const Schema = "APP"

// Run runs the suite. fresh makes an empty database for one test, which cleans up after itself.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"describe", testDescribe},
		{"describe faults", testDescribeFaults},
		{"bounds", testBounds},
		{"cover", testCover},
		{"single", testSingle},
		{"snapshot", testSnapshot},
		{"values", testValues},
		{"nulls", testNulls},
		{"batches", testBatches},
		{"reader reuse", testReaderReuse},
		{"where", testWhere},
		{"refusals", testRefusals},
		{"privileges", testPrivileges},
		{"identity", testIdentity},
		{"snapshot too old", testSnapshotTooOld},
		{"cancel", testCancel},
		{"early end", testEarlyEnd},
		{"cut", testCut},
		{"many at once", testManyAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}
