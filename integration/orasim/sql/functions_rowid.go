package sql

import (
	"math"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// rowidFunctions are those of the package DBMS_ROWID.
func rowidFunctions() map[string]function {
	part := func(max int, fn func(r ora.RowID) int64) function {
		return function{1, max, false, rowidPart(fn)}
	}
	file := func(r ora.RowID) int64 { return int64(r.File) }
	return map[string]function{
		"DBMS_ROWID.ROWID_CREATE":          {5, 5, false, rowidCreate},
		"DBMS_ROWID.ROWID_OBJECT":          part(1, func(r ora.RowID) int64 { return int64(r.Object) }),
		"DBMS_ROWID.ROWID_RELATIVE_FNO":    part(2, file),
		"DBMS_ROWID.ROWID_TO_ABSOLUTE_FNO": part(3, file),
		"DBMS_ROWID.ROWID_BLOCK_NUMBER":    part(2, func(r ora.RowID) int64 { return int64(r.Block) }),
		"DBMS_ROWID.ROWID_ROW_NUMBER":      part(1, func(r ora.RowID) int64 { return int64(r.Slot) }),
		"DBMS_ROWID.ROWID_TYPE":            part(1, func(ora.RowID) int64 { return 1 }),
	}
}

func rowidPart(fn func(r ora.RowID) int64) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args[:1], classRowid)
		if err != nil {
			return expr{}, err
		}
		return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			r, err := ora.DecodeRowID(v[0])
			if err != nil {
				return nil, err
			}
			return ora.EncodeInt(fn(r)), nil
		}), nil
	}
}

// rowidCreate compiles ROWID_CREATE(1, object, file, block, row).
func rowidCreate(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(rowidType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		var parts [5]int
		for i, most := range [5]int{1, math.MaxUint32, 1023, 1<<22 - 1, math.MaxUint16} {
			part, err := optionalInt(v, i, 0)
			if err != nil {
				return nil, err
			}
			if part < 0 || part > most {
				return nil, ora.Errorf(1410, "invalid ROWID")
			}
			parts[i] = part
		}
		if parts[0] != 1 {
			return nil, ora.Errorf(3001, "unimplemented feature: restricted ROWIDs")
		}
		return ora.RowID{Object: uint32(parts[1]), File: uint16(parts[2]), Block: uint32(parts[3]), Slot: uint16(parts[4])}.Encode(), nil
	}), nil
}
