package hs2

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/beltran/gohive/hiveserver"
)

// Value is one value of a result, in the server's own text. DECIMAL, DATE and TIMESTAMP are exact in it; binary
// values are in hexadecimal.
type Value struct {
	Text string
	Null bool
}

// What FetchResults fetches.
const (
	fetchRows int16 = 0
	fetchLog  int16 = 1
)

// fetchSize is the greatest number of rows asked for at a time.
const fetchSize = 1000

// Rows reads the whole result of a finished operation; nil when it has none.
func (o *Operation) Rows(ctx context.Context) ([][]Value, error) {
	if !o.h.h.HasResultSet {
		return nil, nil
	}
	var rows [][]Value
	for {
		more, err := o.fetch(ctx, fetchRows)
		if err != nil || len(more) == 0 {
			return rows, err
		}
		rows = append(rows, more...)
	}
}

// Log reads the lines that the server has logged for the operation since the last call.
func (o *Operation) Log(ctx context.Context) ([]string, error) {
	rows, err := o.fetch(ctx, fetchLog)
	var lines []string
	for _, r := range rows {
		if len(r) > 0 {
			lines = append(lines, r[0].Text)
		}
	}
	return lines, err
}

func (o *Operation) fetch(ctx context.Context, what int16) ([][]Value, error) {
	req := hiveserver.NewTFetchResultsReq()
	req.OperationHandle, req.Orientation = o.thrift(), hiveserver.TFetchOrientation_FETCH_NEXT
	req.MaxRows, req.FetchType = fetchSize, what
	var resp *hiveserver.TFetchResultsResp
	err := o.call(ctx, "fetch results", func(ctx context.Context) (err error) {
		resp, err = o.s.conn.client.FetchResults(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := check(PhaseFetch, resp.GetStatus()); err != nil {
		return nil, err
	}
	return decode(resp.GetResults())
}

// decode turns columns into rows.
func decode(set *hiveserver.TRowSet) ([][]Value, error) {
	if len(set.GetBinaryColumns()) > 0 {
		return nil, fmt.Errorf("decode result: serialised in tasks: set hive.server2.thrift.resultset.serialize.in.tasks=false on the server")
	}
	var rows [][]Value
	for i, c := range set.GetColumns() {
		col, err := column(c)
		if err != nil {
			return nil, fmt.Errorf("decode column %d of result: %w", i+1, err)
		}
		if i == 0 {
			rows = make([][]Value, len(col))
		}
		if len(col) != len(rows) {
			return nil, fmt.Errorf("decode column %d of result: %d values, others have %d", i+1, len(col), len(rows))
		}
		for j, v := range col {
			rows[j] = append(rows[j], v)
		}
	}
	return rows, nil
}

func column(c *hiveserver.TColumn) ([]Value, error) {
	switch {
	case c.StringVal != nil:
		return values(c.StringVal.Values, c.StringVal.Nulls, func(v string) string { return v }), nil
	case c.I64Val != nil:
		return values(c.I64Val.Values, c.I64Val.Nulls, func(v int64) string { return strconv.FormatInt(v, 10) }), nil
	case c.I32Val != nil:
		return values(c.I32Val.Values, c.I32Val.Nulls, func(v int32) string { return strconv.FormatInt(int64(v), 10) }), nil
	case c.I16Val != nil:
		return values(c.I16Val.Values, c.I16Val.Nulls, func(v int16) string { return strconv.FormatInt(int64(v), 10) }), nil
	case c.ByteVal != nil:
		return values(c.ByteVal.Values, c.ByteVal.Nulls, func(v int8) string { return strconv.FormatInt(int64(v), 10) }), nil
	case c.BoolVal != nil:
		return values(c.BoolVal.Values, c.BoolVal.Nulls, strconv.FormatBool), nil
	case c.DoubleVal != nil:
		return values(c.DoubleVal.Values, c.DoubleVal.Nulls, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }), nil
	case c.BinaryVal != nil:
		return values(c.BinaryVal.Values, c.BinaryVal.Nulls, func(v []byte) string { return hex.EncodeToString(v) }), nil
	}
	return nil, fmt.Errorf("unknown type")
}

// values applies the bitmap of NULLs: bit i%8 of byte i/8, which may be shorter than the column.
func values[T any](in []T, nulls []byte, text func(T) string) []Value {
	out := make([]Value, len(in))
	for i, v := range in {
		if i/8 < len(nulls) && nulls[i/8]&(1<<(i%8)) != 0 {
			out[i].Null = true
			continue
		}
		out[i].Text = text(v)
	}
	return out
}
