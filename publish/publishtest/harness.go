// Package publishtest holds the conformance suite that every publish.Warehouse passes.
package publishtest

import (
	"context"
	"crypto/rand"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Harness is a warehouse with what the suite needs around it.
type Harness struct {
	Warehouse publish.Warehouse
	Store     stage.Store  // where sealed files lie, so that the warehouse can read them
	Format    stage.Format // of those files
	Database  string       // is there; the suite makes tables in it, of names that nobody else takes
}

// name makes a table's name that is new.
func name(word string) string { return strings.ToLower(word + "_" + rand.Text()[:10]) }

// target makes a table for the columns, with one partition column load_date.
func (h Harness) target(t *testing.T, word string, cols []stage.Column) publish.Target {
	t.Helper()
	x := publish.Target{Database: h.Database, Table: name(word), Columns: cols,
		Partition: []publish.PartitionValue{{Column: "load_date", Value: "2026-09-28"}}}
	h.create(t, x)
	return x
}

func (h Harness) create(t *testing.T, x publish.Target) {
	t.Helper()
	if err := h.Warehouse.Create(t.Context(), x); err != nil {
		t.Fatal(err)
	}
}

// partition is the same table's partition of another day.
func partition(x publish.Target, values ...string) publish.Target {
	x.Partition = slices.Clone(x.Partition)
	for i, v := range values {
		x.Partition[i].Value = v
	}
	return x
}

// seal writes files into a new directory and makes the staging table over it.
func (h Harness) seal(t *testing.T, cols []stage.Column, files ...[]row) publish.Staging {
	t.Helper()
	s := h.sealed(t, cols, files...)
	if err := h.Warehouse.Stage(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Warehouse.Unstage(context.Background(), s); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sealed writes files into a new directory, beside the marks that a run leaves there.
func (h Harness) sealed(t *testing.T, cols []stage.Column, files ...[]row) publish.Staging {
	t.Helper()
	run := rand.Text()
	dir := path.Join("publishtest", "run_id="+run)
	h.put(t, path.Join(dir, stage.OwnerFile), []byte("{}"))
	for i, rows := range files {
		h.put(t, path.Join(dir, stage.ChunkName(0, i)), h.parquet(t, cols, rows))
	}
	h.put(t, path.Join(dir, stage.SuccessFile), nil)
	return publish.Staging{Database: h.Database, Table: strings.ToLower(publish.StagingTable("publishtest", run)), Location: h.Store.URI(dir), Columns: cols}
}

func (h Harness) put(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := h.Store.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(errors.Join(err, f.Abort()))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// publish publishes and expects success.
func (h Harness) publish(t *testing.T, s publish.Staging, x publish.Target) publish.Result {
	t.Helper()
	r, err := h.try(t, s, x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (h Harness) try(t *testing.T, s publish.Staging, x publish.Target) (publish.Result, error) {
	t.Helper()
	session, err := h.Warehouse.Open(t.Context(), "loadctl-publishtest-1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(context.Background()); err != nil {
			t.Errorf("close session: %v", err)
		}
	}()
	return session.Publish(t.Context(), publish.Publication{Staging: s, Target: x, Tag: "loadctl-publishtest-1"}, func(publish.Progress) {})
}

// measures are all that can be measured of the columns, checksums included.
func measures(cols []stage.Column) []extract.Measure {
	ms := []extract.Measure{{What: extract.Rows}}
	for _, c := range cols {
		for _, w := range []extract.What{extract.NonNull, extract.Sum, extract.Min, extract.Max, extract.Checksum} {
			if w == extract.Checksum || extract.Measurable(c.Type, w) {
				ms = append(ms, extract.Measure{Column: c.Source, Type: c.Type, What: w})
			}
		}
	}
	return ms
}

func (h Harness) measure(t *testing.T, in publish.Scope, cols []stage.Column) []extract.Metric {
	t.Helper()
	ms := measures(cols)
	out, err := h.Warehouse.Measure(t.Context(), in, ms)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(ms) {
		t.Fatalf("%d metrics of %d measures", len(out), len(ms))
	}
	return out
}

func (h Harness) observe(t *testing.T, x publish.Target) publish.Evidence {
	t.Helper()
	e, err := h.Warehouse.Observe(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// equal expects both scopes to measure the same, and to hold that many rows.
func (h Harness) equal(t *testing.T, s publish.Staging, x publish.Target, rows string) {
	t.Helper()
	staged, target := h.measure(t, publish.Scope{Staging: &s}, s.Columns), h.measure(t, publish.Scope{Target: &x}, x.Columns)
	for i := range staged {
		if staged[i] != target[i] {
			t.Errorf("staging has %+v, target %+v", staged[i], target[i])
		}
	}
	if staged[0].Value != rows {
		t.Errorf("%s rows staged, want %s", staged[0].Value, rows)
	}
}

// sameFiles says whether two observations saw the same files, by what a change could not leave as it was.
func sameFiles(a, b publish.Evidence) bool {
	return a.Location == b.Location && a.LastDDL == b.LastDDL && a.Rows == b.Rows &&
		slices.EqualFunc(a.Files, b.Files, func(x, y publish.FileEvidence) bool {
			return x.Path == y.Path && x.ID == y.ID && x.Size == y.Size && x.ModTime.Equal(y.ModTime)
		})
}
