package referee

import (
	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// generatedChecks read a generator table, whose rows travel packed: encoded long before the query.
func generatedChecks() ([]check, error) {
	const total, most = 20_000, 3_000
	t, err := generate.Ten(total, 7)
	if err != nil {
		return nil, err
	}
	columns := t.Columns()
	w := want{affected: -1}
	for _, c := range columns {
		w.columns = append(w.columns, c.Name)
	}
	for n := range int64(most) {
		values, _ := t.Row(n, nil, nil)
		row := make([]cell, len(values))
		for i, v := range values {
			row[i] = cell{kind: kindOf(columns[i].Type), text: ora.Text(columns[i].Type, v), null: v == nil}
		}
		w.rows = append(w.rows, row)
	}
	key := columns[t.Key()].Name
	q := query("SELECT * FROM generated WHERE "+key+" <= :1", number("3000"))
	q.Fetch = 1000
	return []check{{name: "packed rows", step: q, want: w}}, nil
}

func kindOf(t ora.Type) kind {
	switch t.Code {
	case ora.Number:
		return kindNumber
	case ora.Date, ora.Timestamp:
		return kindTime
	case ora.TimestampTZ:
		return kindZoned
	case ora.BinaryDouble:
		return kindDouble
	case ora.Raw:
		return kindRaw
	}
	return kindText
}
