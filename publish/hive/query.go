package hive

import (
	"fmt"
	"strings"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// ident quotes an identifier: between backticks, where only the backtick itself is special, and doubled
// (hive.support.quoted.identifiers=column).
func ident(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// literalEscapes are what Hive's BaseSemanticAnalyzer.unescapeSQLString undoes. A backslash escapes; doubling
// a quote does not, it would end the literal and begin another. "${" would be replaced by a variable of the
// server, in literals too, before the statement is parsed.
var literalEscapes = strings.NewReplacer(
	`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`, "${", `\u0024{`)

// literal quotes a string.
func literal(s string) string { return "'" + literalEscapes.Replace(s) + "'" }

func table(database, name string) string { return ident(database) + "." + ident(name) }

// typeName is the Hive type of a column. Text is STRING, whatever length the source declares: VARCHAR(n) cuts
// longer values in silence, and CHAR(n) pads.
func typeName(t extract.Type) string {
	switch t.Kind {
	case extract.Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case extract.Timestamp:
		return "timestamp"
	case extract.Text:
		return "string"
	case extract.Binary:
		return "binary"
	case extract.Float32:
		return "float"
	case extract.Float64:
		return "double"
	}
	return t.Kind.String() // refused by checkColumns before any text is built
}

func columnList(cols []stage.Column) string {
	var b strings.Builder
	for i, c := range cols {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  " + ident(c.Name) + " " + typeName(c.Type))
	}
	return b.String()
}

func createTarget(t publish.Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE EXTERNAL TABLE IF NOT EXISTS %s (%s\n)", table(t.Database, t.Table), columnList(t.Columns))
	if len(t.Partition) > 0 {
		cols := make([]string, len(t.Partition))
		for i, p := range t.Partition {
			cols[i] = ident(p.Column) + " string"
		}
		fmt.Fprintf(&b, "\nPARTITIONED BY (%s)", strings.Join(cols, ", "))
	}
	b.WriteString("\nSTORED AS PARQUET\nTBLPROPERTIES ('external.table.purge'='false')")
	return b.String()
}

func createStaging(s publish.Staging) string {
	return fmt.Sprintf("CREATE EXTERNAL TABLE IF NOT EXISTS %s (%s\n)\nSTORED AS PARQUET\nLOCATION %s\nTBLPROPERTIES ('external.table.purge'='false')",
		table(s.Database, s.Table), columnList(s.Columns), literal(s.Location))
}

func dropStaging(s publish.Staging) string {
	return "DROP TABLE IF EXISTS " + table(s.Database, s.Table)
}

func describeTable(database, name string) string {
	return "DESCRIBE FORMATTED " + table(database, name)
}

func describePartition(t publish.Target) string {
	return describeTable(t.Database, t.Table) + partitionSpec(t.Partition)
}

const describeDefaultDatabase = "DESCRIBE DATABASE `default`"

// partitionSpec names a static partition, with a space before it; "" for an unpartitioned table.
func partitionSpec(ps []publish.PartitionValue) string {
	if len(ps) == 0 {
		return ""
	}
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = ident(p.Column) + "=" + literal(p.Value)
	}
	return " PARTITION (" + strings.Join(parts, ", ") + ")"
}

// insertOverwrite replaces the target's partition. order is the order of columns in the target itself; of no
// rows it makes an empty partition, because the partition is static.
func insertOverwrite(p publish.Publication, order []string) string {
	names := make([]string, len(order))
	for i, n := range order {
		names[i] = ident(n)
	}
	return fmt.Sprintf("INSERT OVERWRITE TABLE %s%s\nSELECT %s\nFROM %s",
		table(p.Target.Database, p.Target.Table), partitionSpec(p.Target.Partition), strings.Join(names, ", "), table(p.Staging.Database, p.Staging.Table))
}

// from names the rows of a scope, for a SELECT.
func from(in publish.Scope) string {
	if in.Staging != nil {
		return "FROM " + table(in.Staging.Database, in.Staging.Table)
	}
	t := in.Target
	text := "FROM " + table(t.Database, t.Table)
	for i, p := range t.Partition {
		word := " AND "
		if i == 0 {
			word = "\nWHERE "
		}
		text += word + ident(p.Column) + "=" + literal(p.Value)
	}
	return text
}

func selectMeasures(in publish.Scope, terms []term) string {
	var sql []string
	for _, t := range terms {
		sql = append(sql, t.sql...)
	}
	return "SELECT " + strings.Join(sql, ",\n  ") + "\n" + from(in)
}

func countRows(t publish.Target) string { return "SELECT count(*)\n" + from(publish.Scope{Target: &t}) }

// setting asks or sets a configuration variable. Hive takes the rest of the line as it stands, without quotes.
func setting(name string) string { return "SET " + name }

func assign(name, value string) string { return "SET " + name + "=" + value }
