package sql

import "strings"

func isSystemName(name string) bool { return strings.HasPrefix(name, "SYS_C") }

// keyViews are the views of constraints and indexes.
func keyViews(all map[string]*dictView) {
	family(all, "CONSTRAINTS", "OWNER CONSTRAINT_NAME CONSTRAINT_TYPE:1 TABLE_NAME SEARCH_CONDITION:4000 SEARCH_CONDITION_VC:4000 "+
		"R_OWNER R_CONSTRAINT_NAME DELETE_RULE:9 STATUS:8 DEFERRABLE:14 DEFERRED:9 VALIDATED:13 GENERATED:14 LAST_CHANGE#d "+
		"INDEX_OWNER INDEX_NAME", true, func(q *dictQuery) {
		for _, o := range q.objects(kindTable) {
			for _, k := range o.constraints {
				q.add(constraintRow(o, k)...)
			}
		}
	})
	family(all, "CONS_COLUMNS", "OWNER CONSTRAINT_NAME TABLE_NAME COLUMN_NAME:4000 POSITION#n", true, func(q *dictQuery) {
		for _, o := range q.objects(kindTable) {
			for _, k := range o.constraints {
				for i, c := range k.columns {
					var position any = i + 1
					if k.typ == "C" {
						position = nil
					}
					q.add(o.owner, k.name, o.name, c, position)
				}
			}
		}
	})
	family(all, "INDEXES", "OWNER INDEX_NAME INDEX_TYPE:27 TABLE_OWNER TABLE_NAME TABLE_TYPE:11 UNIQUENESS:9 COMPRESSION:13 "+
		"TABLESPACE_NAME:30 STATUS:8 NUM_ROWS#n DISTINCT_KEYS#n LEAF_BLOCKS#n CLUSTERING_FACTOR#n PARTITIONED:3 TEMPORARY:1 "+
		"GENERATED:1 VISIBILITY:9", false, func(q *dictQuery) {
		for _, o := range q.objects(kindIndex) {
			unique, generated := "NONUNIQUE", "N"
			if o.unique {
				unique = "UNIQUE"
			}
			if isSystemName(o.name) {
				generated = "Y"
			}
			q.add(o.owner, o.name, "NORMAL", o.target.owner, o.target.name, "TABLE", unique, "DISABLED", "USERS", "VALID",
				nil, nil, nil, nil, "NO", "N", generated, "VISIBLE")
		}
	})
	family(all, "IND_COLUMNS", "INDEX_OWNER INDEX_NAME TABLE_OWNER TABLE_NAME COLUMN_NAME:4000 COLUMN_POSITION#n "+
		"COLUMN_LENGTH#n CHAR_LENGTH#n DESCEND:4", false, func(q *dictQuery) {
		for _, o := range q.objects(kindIndex) {
			t := q.cat.objects[o.target]
			for i, name := range o.keys {
				typ := t.columns[t.column(name)].typ
				q.add(o.owner, o.name, o.target.owner, o.target.name, name, i+1, dataLength(typ), int(typ.Chars), "ASC")
			}
		}
	})
}

func constraintRow(o *object, k constraint) []any {
	generated := "GENERATED NAME"
	if k.named {
		generated = "USER NAME"
	}
	var condition, owner, index any
	if k.typ == "C" {
		condition = k.text
	} else {
		owner, index = o.owner, k.name
	}
	return []any{o.owner, k.name, k.typ, o.name, condition, condition, nil, nil, nil, "ENABLED", "NOT DEFERRABLE", "IMMEDIATE",
		"VALIDATED", generated, o.changed, owner, index}
}
