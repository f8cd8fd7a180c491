package files_test

import (
	"testing"

	"github.com/loadctl/loadctl/publish/files"
	"github.com/loadctl/loadctl/publish/publishtest"
	"github.com/loadctl/loadctl/stage/local"
	"github.com/loadctl/loadctl/stage/parquet"
)

func newHarness(t *testing.T) publishtest.Harness {
	t.Helper()
	store, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w, err := files.New(files.Config{Root: t.TempDir(), Format: parquet.Format{}})
	if err != nil {
		t.Fatal(err)
	}
	return publishtest.Harness{Warehouse: w, Store: store, Format: parquet.Format{}, Database: "dw"}
}

func TestConformance(t *testing.T) { publishtest.Run(t, newHarness(t)) }
