package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// schema is the content of schemaFile: what a metastore would know of the table.
type schema struct {
	Version   int             `json:"version"`
	Columns   []publish.Field `json:"columns"`
	Partition []string        `json:"partition"`
}

const schemaVersion = 1

// typeName leaves out what the files do not tell: the length of text, the digits of a timestamp's fraction.
func typeName(t extract.Type) string {
	if t.Kind == extract.Decimal {
		return t.String()
	}
	return t.Kind.String()
}

func fields(cols []stage.Column) []publish.Field {
	out := make([]publish.Field, len(cols))
	for i, c := range cols {
		out[i] = publish.Field{Name: c.Name, Type: typeName(c.Type)}
	}
	return out
}

func schemaOf(t publish.Target) schema {
	s := schema{Version: schemaVersion, Columns: fields(t.Columns), Partition: []string{}}
	for _, p := range t.Partition {
		s.Partition = append(s.Partition, strings.ToLower(p.Column))
	}
	return s
}

// readSchema reads a table's schema; ErrNoTarget when there is no table.
func readSchema(tableDir string) (schema, error) {
	var s schema
	data, err := os.ReadFile(filepath.Join(tableDir, schemaFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, dirErr := os.Lstat(tableDir); dirErr == nil {
			return s, fmt.Errorf("table %s: %w: a directory is there without %s, so loadctl did not make it", tableDir, publish.ErrSchema, schemaFile)
		}
		return s, fmt.Errorf("table %s: %w", tableDir, publish.ErrNoTarget)
	}
	if err != nil {
		return s, fmt.Errorf("table %s: %w: %w", tableDir, publish.ErrStatement, err)
	}
	if err = json.Unmarshal(data, &s); err == nil && s.Version != schemaVersion {
		err = fmt.Errorf("version %d, want %d", s.Version, schemaVersion)
	}
	if err != nil {
		return s, fmt.Errorf("table %s: %w: read %s: %w", tableDir, publish.ErrSchema, schemaFile, err)
	}
	return s, nil
}

// differences names everything that keeps t from being published into a table of this schema.
func (s schema) differences(t publish.Target) []string {
	out := publish.ColumnDifferences(s.Columns, fields(t.Columns))
	if d := publish.PartitionDifference(s.Partition, t.Partition); d != "" {
		out = append(out, d)
	}
	return out
}

// checkTable is what every use of a target begins with: it is there, and is what the plan says.
func (w *Warehouse) checkTable(t publish.Target) error {
	dir, err := w.tablePath(t.Database, t.Table)
	if err != nil {
		return err
	}
	s, err := readSchema(dir)
	if err != nil {
		return err
	}
	return publish.SchemaError(t.Database, t.Table, s.differences(t))
}

// checkStaging is ErrStatement when the staging table was not made, or is another.
func (w *Warehouse) checkStaging(s publish.Staging) error {
	file, err := w.stagingPath(s)
	if err != nil {
		return err
	}
	have, err := readStaging(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("staging table %s.%s: %w: it does not exist", s.Database, s.Table, publish.ErrStatement)
	}
	if err != nil {
		return fmt.Errorf("staging table %s.%s: %w: %w", s.Database, s.Table, publish.ErrStatement, err)
	}
	return publish.SchemaError(s.Database, s.Table, stagingDifferences(have, s))
}

func readStaging(file string) (publish.Staging, error) {
	var s publish.Staging
	data, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func stagingDifferences(have, want publish.Staging) []string {
	out := publish.ColumnDifferences(fields(have.Columns), fields(want.Columns))
	if have.Location != want.Location {
		out = append(out, fmt.Sprintf("its location is %s, not %s", have.Location, want.Location))
	}
	return out
}
