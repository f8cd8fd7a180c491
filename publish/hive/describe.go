package hive

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
)

const parquetSerDe = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"

// description is what DESCRIBE FORMATTED says of a table or a partition.
type description struct {
	columns    []publish.Field
	partition  []publish.Field
	kind       string // Table Type; "" of a partition
	location   string
	serde      string
	parameters map[string]string // of the table or the partition
}

// Headings of DESCRIBE FORMATTED. A heading, and the end of a list, follow a row without a name, which no
// column can be.
const (
	headColumns   = "# col_name"
	headPartition = "# Partition Information"
)

// parseDescription reads the three columns of DESCRIBE FORMATTED, of Hive 2 to 4.
func parseDescription(rows [][]hs2.Value) (description, error) {
	d := description{parameters: map[string]string{}}
	section, parameters := headColumns, false
	for i, r := range rows {
		if len(r) < 2 {
			return d, fmt.Errorf("read description: row %d has %d columns, want 3", i+1, len(r))
		}
		name, value, last := cell(r[0]), cell(r[1]), cell(r[len(r)-1])
		switch {
		case name == headColumns && value == "data_type":
		case strings.HasPrefix(name, "# ") && value == "":
			section, parameters = name, false
		case section == headColumns && name != "":
			d.columns = append(d.columns, publish.Field{Name: name, Type: value})
		case section == headPartition && name != "":
			d.partition = append(d.partition, publish.Field{Name: name, Type: value})
		case name == "Table Parameters:" || name == "Partition Parameters:":
			parameters = true
		case parameters && name == "" && value != "":
			d.parameters[value] = last
		case name != "":
			parameters = false
			d.detail(name, value)
		}
	}
	return d, nil
}

// cell is the text without the blanks that pad it.
func cell(v hs2.Value) string {
	if v.Null {
		return ""
	}
	return strings.TrimSpace(v.Text)
}

func (d *description) detail(name, value string) {
	switch name {
	case "Location:":
		d.location = value
	case "Table Type:":
		d.kind = value
	case "SerDe Library:":
		d.serde = value
	}
}

// order is the table's own order of columns.
func (d description) order() []string {
	names := make([]string, len(d.columns))
	for i, c := range d.columns {
		names[i] = c.Name
	}
	return names
}

func (d description) detailText() string {
	return strings.ToLower(strings.ReplaceAll(d.kind, "_", " ")) + ", parquet"
}

// differences names everything that keeps t from being published into the table that d describes.
func (d description) differences(t publish.Target) []string {
	out := d.kindDifferences()
	out = append(out, publish.ColumnDifferences(d.columns, fields(t.Columns))...)
	return append(out, partitionDifferences(d.partition, t.Partition)...)
}

func (d description) kindDifferences() []string {
	var out []string
	switch {
	case d.kind != "EXTERNAL_TABLE":
		out = append(out, fmt.Sprintf("it is a %s; only external tables are published to yet", strings.ToLower(strings.ReplaceAll(d.kind, "_", " "))))
	case strings.EqualFold(d.parameters["transactional"], "true"):
		out = append(out, "it is transactional (ACID); only plain external tables are published to yet")
	}
	if scheme, _, _ := splitLocation(d.location); scheme != "hdfs" && d.location != "" {
		out = append(out, fmt.Sprintf("it lies at %s; only tables on HDFS are published to yet", d.location))
	}
	if d.serde != parquetSerDe {
		out = append(out, fmt.Sprintf("its format is %s; only Parquet is published to yet", d.serde))
	}
	return out
}

func fields(cols []stage.Column) []publish.Field {
	out := make([]publish.Field, len(cols))
	for i, c := range cols {
		out[i] = publish.Field{Name: c.Name, Type: typeName(c.Type)}
	}
	return out
}

func partitionDifferences(have []publish.Field, want []publish.PartitionValue) []string {
	names := make([]string, len(have))
	for i, c := range have {
		names[i] = c.Name
	}
	if d := publish.PartitionDifference(names, want); d != "" {
		return []string{d}
	}
	var out []string
	for i, c := range have {
		if fault := partitionFault(c, want[i].Value); fault != "" {
			out = append(out, fault)
		}
	}
	return out
}

// partitionFault says why a value cannot be compared, as text, with a partition column of that type.
func partitionFault(c publish.Field, value string) string {
	switch c.Type {
	case "string":
		return ""
	case "date":
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return fmt.Sprintf("partition column %q is date, and %q is no date", c.Name, value)
		}
		return ""
	}
	return fmt.Sprintf("partition column %q is %s; only string and date are published to yet", c.Name, c.Type)
}

// schemaTokens end a name where Hive hands the columns it wants to Parquet as text (MessageTypeParser): a
// table can be made of such names, and then any query that reads them fails.
const schemaTokens = " \t\n(){};"

// checkColumns refuses columns and names that no statement can be written for.
func checkColumns(cols []stage.Column, ps []publish.PartitionValue) error {
	var faults []error
	refuse := func(name, why string) { faults = append(faults, fmt.Errorf("column %q: %s", name, why)) }
	seen := map[string]bool{}
	name := func(n string) {
		switch {
		case n == "":
			refuse(n, "it has no name")
		case seen[n]:
			refuse(n, "there are two of that name")
		case strings.Contains(n, "${"):
			refuse(n, "Hive would replace ${...} in it by a variable")
		case strings.ContainsAny(n, schemaTokens):
			refuse(n, "Hive's Parquet reader takes a name apart at blanks, parentheses, braces and semicolons; read a view that renames it")
		}
		seen[n] = true
	}
	for _, c := range cols {
		name(c.Name)
		if c.Type.Kind < extract.Decimal || c.Type.Kind > extract.Float64 {
			refuse(c.Name, "its type "+c.Type.String()+" has no counterpart in Hive")
		}
	}
	for _, p := range ps {
		name(strings.ToLower(p.Column))
		if p.Value == "" {
			refuse(p.Column, "a partition value must not be empty: Hive would make it its default partition")
		}
	}
	if len(cols) == 0 {
		faults = append(faults, errors.New("no columns"))
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%w: %w", publish.ErrSchema, err)
	}
	return nil
}
