package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/integration/scenario"
)

// referees are readers of Parquet that others wrote.
var referees = []string{"duckdb", "pyarrow"}

// wantReferees checks that the target's files, as they lie in the warehouse, hold the table at an SCN for readers that
// are not ours. Where Hive published, Hive wrote them.
func wantReferees(t *testing.T, w *scenario.World, scn string) {
	t.Helper()
	want, err := w.Image(scn)
	if err != nil {
		t.Fatal(err)
	}
	dir := w.TargetDir()
	if w.Stack != nil {
		dir = fromHDFS(t, w, targetLocation(t, w))
	}
	for _, reader := range referees {
		rows := parquetRows(t, reader, dir)
		lines := make([]string, len(rows))
		for i, row := range rows {
			lines[i] = scenario.Line(row)
		}
		slices.Sort(lines)
		if diff := scenario.Difference(want, lines); diff != "" {
			t.Errorf("%s: the target's files are not the table at SCN %s: %s", reader, scn, diff)
		}
	}
}

// targetLocation asks Hive where the target's partition is.
func targetLocation(t *testing.T, w *scenario.World) string {
	t.Helper()
	rows, err := w.Hive(t.Context(), "DESCRIBE FORMATTED "+w.Target()+" PARTITION (load_date = '"+scenario.Date+"')")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if len(row) > 1 && len(row[0]) >= 9 && row[0][:9] == "Location:" {
			return row[1]
		}
	}
	t.Fatal("Hive does not say where the partition is")
	return ""
}

// fromHDFS copies the files of a directory to this machine.
func fromHDFS(t *testing.T, w *scenario.World, location string) string {
	t.Helper()
	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{w.Stack.HDFS.NameNode}, User: w.Stack.HDFS.Superuser})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	from := location[len("hdfs://"+w.Stack.HDFS.NameNode):]
	entries, err := client.ReadDir(from)
	if err != nil {
		t.Fatalf("list %s: %v", from, err)
	}
	to := t.TempDir()
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if err := client.CopyToLocal(from+"/"+e.Name(), filepath.Join(to, e.Name())); err != nil {
			t.Fatalf("copy %s: %v", e.Name(), err)
		}
	}
	return to
}

// parquetRows reads the Parquet files of a directory with a reader that is not ours, as text.
func parquetRows(t *testing.T, reader, dir string) [][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), rig.Python(t), "testdata/parquet_rows.py", reader, dir, scenario.Null)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read %s with %s: %v", dir, reader, err)
	}
	var rows [][]string
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
