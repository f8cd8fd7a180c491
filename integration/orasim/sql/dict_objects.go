package sql

import (
	"cmp"
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// objectViews are the views of tables, views, synonyms and users.
func objectViews(all map[string]*dictView) {
	family(all, "TABLES", "OWNER TABLE_NAME TABLESPACE_NAME:30 CLUSTER_NAME IOT_NAME STATUS:8 PCT_FREE#n NUM_ROWS#n "+
		"BLOCKS#n EMPTY_BLOCKS#n AVG_ROW_LEN#n DEGREE:10 SAMPLE_SIZE#n LAST_ANALYZED#d PARTITIONED:3 IOT_TYPE:12 TEMPORARY:1 "+
		"SECONDARY:1 NESTED:3 DURATION:15 DROPPED:3 READ_ONLY:3 HAS_IDENTITY:3 EXTERNAL:3", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable) {
			if o.organization != "OBJECT" {
				q.add(o.tableRow()...)
			}
		}
	})
	family(all, "OBJECT_TABLES", "OWNER TABLE_NAME TABLESPACE_NAME:30 TABLE_TYPE_OWNER TABLE_TYPE", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable) {
			if o.organization == "OBJECT" {
				q.add(o.owner, o.name, "USERS", cmp.Or(o.of.schema, o.owner), o.of.name)
			}
		}
	})
	family(all, "TYPES", "OWNER TYPE_NAME TYPECODE:30 ATTRIBUTES#n", false, func(q *dictQuery) {
		for _, o := range q.objects(kindType) {
			q.add(o.owner, o.name, cmp.Or(o.organization, "OBJECT"), len(o.columns))
		}
	})
	family(all, "VIEWS", "OWNER VIEW_NAME TEXT_LENGTH#n TEXT:4000 TEXT_VC:4000 READ_ONLY:1", false, func(q *dictQuery) {
		for _, o := range q.objects(kindView) {
			q.add(o.owner, o.name, len(o.text), o.text, o.text, "N")
		}
	})
	family(all, "SYNONYMS", "OWNER SYNONYM_NAME TABLE_OWNER TABLE_NAME DB_LINK", false, func(q *dictQuery) {
		for _, o := range q.objects(kindSynonym) {
			q.add(o.owner, o.name, o.target.owner, o.target.name, nil)
		}
	})
	family(all, "OBJECTS", "OWNER OBJECT_NAME SUBOBJECT_NAME OBJECT_ID#n DATA_OBJECT_ID#n OBJECT_TYPE:23 CREATED#d "+
		"LAST_DDL_TIME#d TIMESTAMP:19 STATUS:7 TEMPORARY:1 GENERATED:1 SECONDARY:1 NAMESPACE#n", false, listObjects)
	family(all, "TAB_COMMENTS", "OWNER TABLE_NAME TABLE_TYPE:11 COMMENTS:4000", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable, kindView) {
			q.add(o.owner, o.name, string(o.kind), nil)
		}
	})
	all["ALL_USERS"] = view("USERNAME USER_ID#n CREATED#d", func(q *dictQuery) {
		for _, name := range sortedKeys(q.cat.users) {
			u := q.cat.users[name]
			q.add(u.name, u.id, u.created)
		}
	})
	all["USER_USERS"] = view("USERNAME USER_ID#n ACCOUNT_STATUS:32 CREATED#d", func(q *dictQuery) {
		u := q.cat.users[q.ses.user]
		q.add(u.name, u.id, "OPEN", u.created)
	})
	all["DBA_USERS"] = restrictedView("USERNAME USER_ID#n ACCOUNT_STATUS:32 CREATED#d", func(q *dictQuery) {
		for _, name := range sortedKeys(q.cat.users) {
			u := q.cat.users[name]
			status := "OPEN"
			if u.locked {
				status = "LOCKED"
			}
			q.add(u.name, u.id, status, u.created)
		}
	})
}

// tableRow is a table as TABLES shows it.
func (o *object) tableRow() []any {
	partitioned, temporary, identity, external := "NO", "N", "NO", "NO"
	var iot, duration any
	tablespace := any("USERS")
	if o.parts != nil {
		partitioned, tablespace = "YES", nil
	}
	switch o.organization {
	case "INDEX":
		iot, tablespace = "IOT", nil
	case "TEMPORARY":
		temporary, duration, tablespace = "Y", o.duration, nil
	case "EXTERNAL":
		external, tablespace = "YES", nil
	}
	for _, c := range o.columns {
		if c.identity != "" {
			identity = "YES"
		}
	}
	return []any{o.owner, o.name, tablespace, nil, nil, "VALID", 10, nil, nil, nil, nil, "         1", nil, nil, partitioned, iot,
		temporary, "N", "NO", duration, "NO", "NO", identity, external}
}

// blockSize is the size of a block in bytes.
const blockSize = 8192

func listObjects(q *dictQuery) {
	for _, o := range q.objects(kindTable, kindView, kindSynonym, kindIndex, kindType) {
		var data any
		if o.table != nil && o.parts == nil && o.organization == "" {
			data = int(o.table.DataObject())
		}
		generated := "N"
		if o.kind == kindIndex && isSystemName(o.name) {
			generated = "Y"
		}
		q.addObject(o, nil, data, string(o.kind), generated)
		if o.parts != nil {
			q.addPartitions(o)
		}
	}
}

func (q *dictQuery) addObject(o *object, sub, data any, kind, generated string) {
	stamp := q.ses.db.wall(o.changed).wall
	temporary := "N"
	if o.organization == "TEMPORARY" {
		temporary = "Y"
	}
	q.add(o.owner, o.name, sub, o.id, data, kind, o.created, o.changed,
		fmt.Sprintf("%04d-%02d-%02d:%02d:%02d:%02d", stamp.Year, stamp.Month, stamp.Day, stamp.Hour, stamp.Minute, stamp.Sec),
		"VALID", temporary, generated, "N", 1)
}

// addPartitions shows the partitions of a table, and their subpartitions; those have the data.
func (q *dictQuery) addPartitions(o *object) {
	if o.parts.subKind != "" {
		for _, p := range o.parts.parts {
			q.addObject(o, p.name, nil, "TABLE PARTITION", "N")
		}
	}
	for _, s := range o.segments() {
		q.addObject(o, s.part, int(s.object), s.kind, "N")
	}
}

// columnViews are the views of columns.
func columnViews(all map[string]*dictView) {
	spec := "OWNER TABLE_NAME COLUMN_NAME DATA_TYPE DATA_TYPE_MOD:3 DATA_TYPE_OWNER DATA_LENGTH#n DATA_PRECISION#n " +
		"DATA_SCALE#n NULLABLE:1 COLUMN_ID#n DEFAULT_LENGTH#n DATA_DEFAULT:4000 NUM_DISTINCT#n DENSITY#n NUM_NULLS#n " +
		"LAST_ANALYZED#d CHARACTER_SET_NAME:44 CHAR_COL_DECL_LENGTH#n AVG_COL_LEN#n CHAR_LENGTH#n CHAR_USED:1 " +
		"DEFAULT_ON_NULL:3 IDENTITY_COLUMN:3 COLLATION:100"
	family(all, "TAB_COLUMNS", spec, false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable, kindView) {
			for i := range o.columns {
				q.add(columnRow(o, i)...)
			}
		}
	})
	family(all, "TAB_COLS", spec+" HIDDEN_COLUMN:3 VIRTUAL_COLUMN:3 SEGMENT_COLUMN_ID#n INTERNAL_COLUMN_ID#n "+
		"QUALIFIED_COL_NAME:4000 USER_GENERATED:3", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable, kindView) {
			for i := range o.columns {
				hidden, virtual := "NO", "NO"
				if o.columns[i].invisible {
					hidden = "YES"
				}
				if o.columns[i].virtual {
					virtual = "YES"
				}
				q.add(append(columnRow(o, i), hidden, virtual, i+1, i+1, o.columns[i].name, "YES")...)
			}
		}
	})
	family(all, "TAB_IDENTITY_COLS", "OWNER TABLE_NAME COLUMN_NAME GENERATION_TYPE:10 SEQUENCE_NAME IDENTITY_OPTIONS:298", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable) {
			for _, c := range o.columns {
				if c.identity != "" {
					q.add(o.owner, o.name, c.name, c.identity, fmt.Sprintf("ISEQ$$_%d", o.id), "START WITH: 1, INCREMENT BY: 1")
				}
			}
		}
	})
	family(all, "COL_COMMENTS", "OWNER TABLE_NAME COLUMN_NAME COMMENTS:4000", false, func(q *dictQuery) {
		for _, o := range q.objects(kindTable, kindView) {
			for _, c := range o.columns {
				q.add(o.owner, o.name, c.name, nil)
			}
		}
	})
}

// columnRow is a column as TAB_COLUMNS shows it.
func columnRow(o *object, i int) []any {
	c := o.columns[i]
	t := c.typ
	nullable := "Y"
	if c.notNull {
		nullable = "N"
	}
	var precision, scale, defaultLength, defaultText, charset, declared, chars, used any
	precision, scale = shownPrecision(t)
	if c.byDefault != nil {
		defaultLength, defaultText = len(c.defaultText), c.defaultText
	}
	name, owner := typeName(t), any(nil)
	if c.foreign.name != "" {
		name = c.foreign.name
		if c.foreign.schema != "" {
			owner = c.foreign.schema
		}
	}
	onNull, identity := "NO", "NO"
	if c.onNull {
		onNull = "YES"
	}
	if c.identity != "" {
		identity, defaultText = "YES", fmt.Sprintf("\"%s\".\"ISEQ$$_%d\".nextval", o.owner, o.id)
		defaultLength = len(defaultText.(string))
	}
	if t.Form != 0 {
		charset, declared, chars = "CHAR_CS", int(t.Bytes), int(t.Chars)
		used = "B"
		if t.CharUsed {
			used = "C"
		}
		if t.Form == ora.FormNational {
			charset, declared = "NCHAR_CS", int(t.Chars)
		}
		if classOf(t) == classLob {
			declared, chars, used = nil, 0, nil
		}
	} else {
		chars = 0
	}
	return []any{o.owner, o.name, c.name, name, nil, owner, dataLength(t), precision, scale, nullable, o.columnID(i),
		defaultLength, defaultText, nil, nil, nil, nil, charset, declared, nil, chars, used, onNull, identity, nil}
}

// shownPrecision is DATA_PRECISION and DATA_SCALE.
func shownPrecision(t ora.Type) (precision, scale any) {
	switch t.Code {
	case ora.Number:
		if t.Precision > 0 {
			precision = int(t.Precision)
		}
		if t.Scale != ora.ScaleFloating {
			scale = int(t.Scale)
		}
	case ora.Timestamp, ora.TimestampTZ, ora.TimestampLTZ:
		scale = int(t.Scale)
	case ora.IntervalDS:
		precision, scale = int(t.Precision), int(t.Scale)
	case ora.IntervalYM:
		precision, scale = int(t.Precision), 0
	}
	return precision, scale
}

func dataLength(t ora.Type) int {
	switch t.Code {
	case ora.Long, ora.LongRaw:
		return 0
	case ora.Rowid:
		return 10
	}
	return int(t.Bytes)
}

// typeName is DATA_TYPE.
func typeName(t ora.Type) string {
	national := t.Form == ora.FormNational
	switch t.Code {
	case ora.Varchar2:
		if national {
			return "NVARCHAR2"
		}
		return "VARCHAR2"
	case ora.Char:
		if national {
			return "NCHAR"
		}
		return "CHAR"
	case ora.Clob:
		if national {
			return "NCLOB"
		}
		return "CLOB"
	case ora.Number:
		if t.Precision > 0 && t.Scale == ora.ScaleFloating {
			return "FLOAT"
		}
		return "NUMBER"
	case ora.Timestamp:
		return fmt.Sprintf("TIMESTAMP(%d)", t.Scale)
	case ora.TimestampTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH TIME ZONE", t.Scale)
	case ora.TimestampLTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH LOCAL TIME ZONE", t.Scale)
	case ora.IntervalYM:
		return fmt.Sprintf("INTERVAL YEAR(%d) TO MONTH", t.Precision)
	case ora.IntervalDS:
		return fmt.Sprintf("INTERVAL DAY(%d) TO SECOND(%d)", t.Precision, t.Scale)
	}
	return map[uint8]string{ora.Date: "DATE", ora.Raw: "RAW", ora.Long: "LONG", ora.LongRaw: "LONG RAW", ora.Blob: "BLOB",
		ora.Rowid: "ROWID", ora.Urowid: "UROWID", ora.BinaryFloat: "BINARY_FLOAT", ora.BinaryDouble: "BINARY_DOUBLE"}[t.Code]
}
