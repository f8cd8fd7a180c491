package oracle

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/loadctl/loadctl/extract"
)

// Every SQL text that is sent to Oracle is in this file.

// module is how the product shows in V$SESSION.
const module = "loadctl"

const (
	// pinSession makes every implicit conversion in where: mean the same whatever client, host and logon
	// trigger have set.
	pinSession = `ALTER SESSION SET NLS_LANGUAGE='AMERICAN' NLS_TERRITORY='AMERICA' NLS_CALENDAR='GREGORIAN'` +
		` NLS_NUMERIC_CHARACTERS='.,' NLS_DATE_LANGUAGE='AMERICAN' NLS_DATE_FORMAT='YYYY-MM-DD HH24:MI:SS'` +
		` NLS_TIMESTAMP_FORMAT='YYYY-MM-DD HH24:MI:SS.FF9' NLS_TIMESTAMP_TZ_FORMAT='YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'` +
		` NLS_SORT='BINARY' NLS_COMP='BINARY' TIME_ZONE='+00:00'`

	markSession = `BEGIN DBMS_APPLICATION_INFO.SET_MODULE(:1, :2); DBMS_SESSION.SET_IDENTIFIER(:3); END;`

	aboutSession = `SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME'), SYS_CONTEXT('USERENV', 'CON_NAME'),` +
		` SYS_CONTEXT('USERENV', 'SESSION_USER'), SYS_CONTEXT('USERENV', 'LANGUAGE')`
	selectIdentity       = `SELECT TO_CHAR(d.DBID), ` + aboutSession + ` FROM V$DATABASE d`
	selectIdentityNoDBID = `SELECT NULL, ` + aboutSession + ` FROM DUAL`

	sourceTime          = `TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD HH24:MI:SS')`
	selectSCNFlashback  = `SELECT DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER, ` + sourceTime + ` FROM DUAL`
	selectSCNVDatabase  = `SELECT d.CURRENT_SCN, ` + sourceTime + ` FROM V$DATABASE d`
	selectObjectKinds   = `SELECT OBJECT_TYPE FROM ALL_OBJECTS WHERE OWNER = :1 AND OBJECT_NAME = :2`
	selectTableFacts    = `SELECT NUM_ROWS, TEMPORARY FROM ALL_TABLES WHERE OWNER = :1 AND TABLE_NAME = :2`
	selectSimilarTables = `SELECT OWNER, TABLE_NAME FROM ALL_TABLES WHERE UPPER(TABLE_NAME) = UPPER(:1) ORDER BY OWNER, TABLE_NAME`
	selectColumns       = `SELECT COLUMN_NAME, DATA_TYPE, DATA_LENGTH, DATA_PRECISION, DATA_SCALE, CHAR_LENGTH, CHAR_USED, NULLABLE` +
		` FROM ALL_TAB_COLS WHERE OWNER = :1 AND TABLE_NAME = :2 AND HIDDEN_COLUMN = 'NO' ORDER BY COLUMN_ID`
	selectKey = `SELECT k.COLUMN_NAME FROM ALL_CONSTRAINTS c JOIN ALL_CONS_COLUMNS k` +
		` ON k.OWNER = c.OWNER AND k.CONSTRAINT_NAME = c.CONSTRAINT_NAME` +
		` WHERE c.OWNER = :1 AND c.TABLE_NAME = :2 AND c.CONSTRAINT_TYPE = 'P' ORDER BY k.POSITION`
)

// quote writes an identifier so that it names exactly itself. No Oracle identifier holds a double quote or a NUL
// (checkName refuses them before any text is built); doubled, a quote can at least not end the identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteTable(t extract.TableName) string {
	if t.Schema == "" {
		return quote(t.Name)
	}
	return quote(t.Schema) + "." + quote(t.Name)
}

// maxName is the longest identifier, in bytes, since Oracle 12.2.
const maxName = 128

// checkName refuses what cannot be an Oracle identifier.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: an empty name", extract.ErrQuery)
	case len(name) > maxName:
		return fmt.Errorf("%w: name %q is longer than %d bytes", extract.ErrQuery, clip(name, 40)+"...", maxName)
	case strings.ContainsAny(name, "\"\x00"):
		return fmt.Errorf("%w: name %q holds a double quote or a NUL, which no Oracle name does", extract.ErrQuery, name)
	}
	return nil
}

var (
	alterSession  = regexp.MustCompile(`(?i)^\s*ALTER\s+SESSION\s`)
	numberLiteral = regexp.MustCompile(`^-?\d{1,126}(\.\d{1,126})?$`)
	scnLiteral    = regexp.MustCompile(`^[1-9]\d{0,37}$`)
)

// literal writes a bound of a slice. It is the only way by which a value becomes SQL text.
func literal(kind extract.Kind, value string) (string, error) {
	switch kind {
	case extract.Decimal:
		if numberLiteral.MatchString(value) {
			return value, nil
		}
	case extract.Timestamp:
		if _, _, err := extract.ParseTimestamp(value); err == nil {
			// A DATE column against a DATE keeps its index; against a TIMESTAMP it would be converted row by row.
			if strings.Contains(value, ".") {
				return `TO_TIMESTAMP('` + value + `', 'YYYY-MM-DD HH24:MI:SS.FF')`, nil
			}
			return `TO_DATE('` + value + `', 'YYYY-MM-DD HH24:MI:SS')`, nil
		}
	}
	return "", fmt.Errorf("%w: %q is not a %s", extract.ErrQuery, value, kind)
}

// condition is what the rows of a slice have in common; "" for every row.
func condition(s extract.Slice) (string, error) {
	if s.Shape == extract.Whole {
		return "", nil
	}
	if err := checkName(s.Column); err != nil {
		return "", err
	}
	column := "t." + quote(s.Column)
	switch {
	case s.Shape == extract.IsNull:
		return column + " IS NULL", nil
	case s.Shape != extract.Range:
		return "", fmt.Errorf("%w: slices of shape %q", extract.ErrUnsupported, s.Shape)
	case s.From == "" && s.Below == "":
		return column + " IS NOT NULL", nil
	}
	var parts []string
	for _, bound := range []struct{ op, value string }{{" >= ", s.From}, {" < ", s.Below}} {
		if bound.value == "" {
			continue
		}
		text, err := literal(s.Kind, bound.value)
		if err != nil {
			return "", fmt.Errorf("slice %d: %w", s.ID, err)
		}
		parts = append(parts, column+bound.op+text)
	}
	return strings.Join(parts, " AND "), nil
}

// checkQuery refuses names, snapshots and hints that must not become text.
func checkQuery(q extract.Query, at extract.Snapshot) error {
	if err := checkName(q.Table.Name.Name); err != nil {
		return err
	}
	if q.Table.Name.Schema != "" {
		if err := checkName(q.Table.Name.Schema); err != nil {
			return err
		}
	}
	if len(q.Table.Columns) == 0 {
		return fmt.Errorf("%w: no columns of %s", extract.ErrQuery, quoteTable(q.Table.Name))
	}
	for _, c := range q.Table.Columns {
		if err := checkName(c.Name); err != nil {
			return err
		}
	}
	if !scnLiteral.MatchString(at.SCN) {
		return fmt.Errorf("%w: %q is not an SCN", extract.ErrQuery, at.SCN)
	}
	if strings.Contains(q.Hint, "*/") || strings.Contains(q.Hint, "/*") {
		return fmt.Errorf("%w: hint %q holds a comment sign; write it without", extract.ErrQuery, q.Hint)
	}
	return nil
}

func selectWord(q extract.Query) string {
	if q.Hint == "" {
		return "SELECT "
	}
	return "SELECT /*+ " + q.Hint + " */ "
}

// from is the table as of the snapshot (before the alias, or it is no flashback query) and the rows that are
// wanted of it.
func from(q extract.Query, at extract.Snapshot, slice string) string {
	text := " FROM " + quoteTable(q.Table.Name) + " AS OF SCN " + at.SCN + " t"
	var conditions []string
	if q.Where != "" {
		conditions = append(conditions, "("+q.Where+")")
	}
	if slice != "" {
		conditions = append(conditions, slice)
	}
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	return text
}

// readText selects the rows of one slice.
func readText(q extract.Query, at extract.Snapshot, s extract.Slice) (string, error) {
	if err := checkQuery(q, at); err != nil {
		return "", err
	}
	slice, err := condition(s)
	if err != nil {
		return "", err
	}
	columns := make([]string, len(q.Table.Columns))
	for i, c := range q.Table.Columns {
		columns[i] = "t." + quote(c.Name)
	}
	return selectWord(q) + strings.Join(columns, ", ") + from(q, at, slice), nil
}

// countText counts the rows of one slice.
func countText(q extract.Query, at extract.Snapshot, s extract.Slice) (string, error) {
	if err := checkQuery(q, at); err != nil {
		return "", err
	}
	slice, err := condition(s)
	if err != nil {
		return "", err
	}
	return selectWord(q) + "COUNT(*)" + from(q, at, slice), nil
}

// boundsText finds the extremes of a column, with rows and values counted.
func boundsText(q extract.Query, at extract.Snapshot, c extract.Column) (string, error) {
	if err := checkQuery(q, at); err != nil {
		return "", err
	}
	if err := checkName(c.Name); err != nil {
		return "", err
	}
	column := "t." + quote(c.Name)
	return selectWord(q) + extreme("MIN", column, c.Type) + ", " + extreme("MAX", column, c.Type) +
		", COUNT(*), COUNT(" + column + ")" + from(q, at, ""), nil
}

// extreme is a least or greatest value. A timestamp is written out by Oracle itself, so that a BC year or a day of
// the Julian calendar arrives as what it is; the leading sign of the format is a blank for years after Christ.
func extreme(function, column string, t extract.Type) string {
	value := function + "(" + column + ")"
	switch {
	case t.Kind == extract.Timestamp && t.Scale > 0:
		return "TO_CHAR(" + value + ", 'SYYYY-MM-DD HH24:MI:SS.FF9')"
	case t.Kind == extract.Timestamp:
		return "TO_CHAR(" + value + ", 'SYYYY-MM-DD HH24:MI:SS')"
	default:
		return value
	}
}

// Rows of measureText that are not slices.
const (
	strayRows = -1 // rows in no slice
	allRows   = -2 // every row, counted by a scan of its own
)

// measureText counts and measures every slice, and counts all rows, in one statement. It has one row a slice that
// is not empty: its number, its count, and the values of the measures (see expressions).
func measureText(q extract.Query, at extract.Snapshot, slices []extract.Slice, ms []extract.Measure) (string, error) {
	if err := checkQuery(q, at); err != nil {
		return "", err
	}
	which, err := whichSlice(slices)
	if err != nil {
		return "", err
	}
	inner, outer, nulls := []string{which + " s"}, []string{"q.s", "COUNT(*)"}, []string{fmt.Sprint(allRows), "COUNT(*)"}
	alias := map[string]string{}
	for _, m := range ms {
		if m.What == extract.Rows {
			continue
		}
		if err := checkMeasure(q, m); err != nil {
			return "", err
		}
		if alias[m.Column] == "" {
			alias[m.Column] = fmt.Sprintf("c%d", len(alias))
			inner = append(inner, "t."+quote(m.Column)+" "+alias[m.Column])
		}
		for _, e := range expressions(m, "q."+alias[m.Column]) {
			outer, nulls = append(outer, e), append(nulls, "NULL")
		}
	}
	return selectWord(q) + strings.Join(outer, ", ") + " FROM (SELECT " + strings.Join(inner, ", ") + from(q, at, "") +
		") q GROUP BY q.s UNION ALL " + selectWord(q) + strings.Join(nulls, ", ") + from(q, at, ""), nil
}

// whichSlice is the number of the slice that a row belongs to.
func whichSlice(slices []extract.Slice) (string, error) {
	if len(slices) == 1 && slices[0].Shape == extract.Whole {
		return fmt.Sprint(slices[0].ID), nil
	}
	var text strings.Builder
	text.WriteString("CASE")
	for _, s := range slices {
		c, err := condition(s)
		if err != nil {
			return "", err
		}
		if c == "" {
			return "", fmt.Errorf("%w: a slice of every row stands beside others", extract.ErrManifest)
		}
		fmt.Fprintf(&text, " WHEN %s THEN %d", c, s.ID)
	}
	fmt.Fprintf(&text, " ELSE %d END", strayRows)
	return text.String(), nil
}

func checkMeasure(q extract.Query, m extract.Measure) error {
	c, ok := q.Table.Column(m.Column)
	if !ok {
		return fmt.Errorf("measure %s of %q: %w", m.What, m.Column, extract.ErrNoColumn)
	}
	if c.Type != m.Type {
		return fmt.Errorf("measure %s of %q as %s, which is %s: %w", m.What, m.Column, m.Type, c.Type, extract.ErrUnsupported)
	}
	if !extract.Measurable(m.Type, m.What) {
		return fmt.Errorf("measure %s of %q, which is %s: %w", m.What, m.Column, m.Type, extract.ErrUnsupported)
	}
	return nil
}

// expressions compute a measure. A sum of wide decimals has two parts, because Oracle computes with 38 to 40
// digits: the digits from position scale-19 up, and those below. Either sum has 19 digits to spare.
func expressions(m extract.Measure, column string) []string {
	switch m.What {
	case extract.NonNull:
		return []string{"COUNT(" + column + ")"}
	case extract.Min:
		return []string{extreme("MIN", column, m.Type)}
	case extract.Max:
		return []string{extreme("MAX", column, m.Type)}
	}
	if !m.Type.Wide() {
		return []string{"SUM(" + column + ")"}
	}
	high := fmt.Sprintf("TRUNC(%s, %d)", column, m.Type.Scale-19)
	return []string{"SUM(" + high + ")", "SUM(" + column + " - " + high + ")"}
}
