package sql

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func conversionFunctions() map[string]function {
	return map[string]function{
		"TO_CHAR":          {1, 3, false, toChar},
		"TO_NUMBER":        {1, 3, false, toNumberFunction},
		"TO_DATE":          {1, 3, false, toTimeFunction(classDate)},
		"TO_TIMESTAMP":     {1, 3, false, toTimeFunction(classTimestamp)},
		"TO_TIMESTAMP_TZ":  {1, 3, false, toTimeFunction(classTZ)},
		"TO_BINARY_DOUBLE": {1, 1, false, convertFunction(classFloat)},
		"TO_BINARY_FLOAT": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			return args[0].cast(ora.Type{Code: ora.BinaryFloat, Bytes: 4}, "", n.at())
		}},
		"EMPTY_CLOB":         {0, 0, true, emptyLob(ora.Type{Code: ora.Clob, Form: ora.FormDatabase, Bytes: maxVarchar})},
		"EMPTY_BLOB":         {0, 0, true, emptyLob(ora.Type{Code: ora.Blob, Bytes: maxVarchar})},
		"DBMS_LOB.GETLENGTH": {1, 1, false, lobLength},
		"TO_NCLOB": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			return args[0].cast(ora.Type{Code: ora.Clob, Form: ora.FormNational, Bytes: maxVarchar}, "", n.at())
		}},
		"TO_BLOB":     {1, 1, false, convertFunction(classBlob)},
		"TO_CLOB":     {1, 1, false, convertFunction(classLob)},
		"ROWIDTOCHAR": {1, 1, false, convertFunction(classText)},
		"CHARTOROWID": {1, 1, false, convertFunction(classRowid)},
		"TO_DSINTERVAL": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			return args[0].to(classSpan, n.at())
		}},
		"TO_YMINTERVAL": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			return args[0].to(classMonths, n.at())
		}},
		"NUMTODSINTERVAL": {2, 2, false, numToSpan},
		"NUMTOYMINTERVAL": {2, 2, false, numToMonths},
	}
}

func emptyLob(typ ora.Type) func(*compiler, *call, []expr) (expr, error) {
	return func(*compiler, *call, []expr) (expr, error) { return constantExpr(typ, ora.Value{}), nil }
}

// lobLength compiles the length of a LOB, which may be 0: in characters, UTF-16 units for national text, or bytes.
func lobLength(_ *compiler, n *call, args []expr) (expr, error) {
	x := args[0]
	if !isLob(x.typ) {
		return expr{}, mismatch(argAt(n, 0), classLob, classOf(x.typ))
	}
	return expr{typ: numberType(), nullable: true, eval: func(f *frame) (ora.Value, error) {
		v, err := x.eval(f)
		if err != nil || v == nil {
			return nil, err
		}
		if x.typ.Code == ora.Blob {
			return ora.EncodeInt(int64(len(v))), nil
		}
		return ora.EncodeInt(int64(charCount(x.typ, v))), nil
	}}, nil
}

// toChar compiles TO_CHAR of numbers and datetimes with an optional format, and of text.
func toChar(_ *compiler, n *call, args []expr) (expr, error) {
	if len(args) > 2 {
		return expr{}, errAt(argAt(n, 2), 3001, "unimplemented feature: TO_CHAR with NLS parameters")
	}
	k := classOf(args[0].typ)
	if len(args) == 1 || args[0].isNullLiteral() {
		return args[0].to(classText, argAt(n, 0))
	}
	format, err := args[1].to(classText, argAt(n, 1))
	if err != nil {
		return expr{}, err
	}
	if !isDatetime(k) {
		x, err := args[0].to(classNumber, argAt(n, 0))
		if err != nil {
			return expr{}, err
		}
		return strict(textType(64), []expr{x, format}, func(x *execution, v []ora.Value) (ora.Value, error) {
			f, err := compileNumberFormat(string(v[1]))
			if err != nil {
				return nil, err
			}
			d, err := ora.DecodeNumber(v[0])
			if err != nil {
				return nil, err
			}
			s, err := f.format(d, x.nls)
			return ora.Value(s), err
		}), nil
	}
	typ := args[0].typ
	return strict(textType(75), []expr{args[0], format}, func(x *execution, v []ora.Value) (ora.Value, error) {
		f, err := x.dateFormat(string(v[1]))
		if err != nil {
			return nil, err
		}
		t, err := x.decodeTime(typ, v[0])
		if err != nil {
			return nil, err
		}
		if k == classDate {
			for i := range f.elements {
				if c := f.elements[i].code; c == "FF" || c == "TZH" || c == "TZM" || c == "TZR" {
					return nil, ora.Errorf(1821, "date format not recognized")
				}
			}
		}
		return ora.Value(f.format(t, x.nls)), nil
	}), nil
}

func toNumberFunction(_ *compiler, n *call, args []expr) (expr, error) {
	if len(args) > 2 {
		return expr{}, errAt(argAt(n, 2), 3001, "unimplemented feature: TO_NUMBER with NLS parameters")
	}
	if len(args) == 1 {
		return args[0].to(classNumber, argAt(n, 0))
	}
	args, err := asClasses(n, args, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(numberType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		f, err := compileNumberFormat(string(v[1]))
		if err != nil {
			return nil, err
		}
		d, err := f.parse(string(v[0]), x.nls)
		return d.Encode(), err
	}), nil
}

// toTimeFunction compiles TO_DATE and its like. A datetime argument goes through text by the session's format,
// as in Oracle.
func toTimeFunction(to class) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		if len(args) > 2 {
			return expr{}, errAt(argAt(n, 2), 3001, "unimplemented feature: %s with NLS parameters", n.name)
		}
		if len(args) == 1 && isDatetime(classOf(args[0].typ)) {
			return args[0].to(to, argAt(n, 0))
		}
		args, err := asClasses(n, args, classText)
		if err != nil {
			return expr{}, err
		}
		if len(args) == 1 {
			return args[0].to(to, argAt(n, 0))
		}
		return strict(plainType(to), args, func(x *execution, v []ora.Value) (ora.Value, error) {
			if to == classDate {
				if upper := strings.ToUpper(string(v[1])); strings.Contains(upper, "FF") || strings.Contains(upper, "TZ") {
					return nil, ora.Errorf(1821, "date format not recognized")
				}
			}
			return x.parseTime(string(v[0]), string(v[1]), to)
		}), nil
	}
}

// numToSpan compiles NUMTODSINTERVAL(n, 'unit').
func numToSpan(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classNumber, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(plainType(classSpan), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		weight, ok := map[string]int64{"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}[strings.ToUpper(strings.TrimSpace(string(v[1])))]
		if !ok {
			return nil, ora.Errorf(1760, "illegal argument for function")
		}
		x, err := ora.DecodeNumber(v[0])
		if err != nil {
			return nil, err
		}
		nanos, err := x.Mul(ora.NumFromInt(weight * 1e9))
		if err == nil {
			nanos, err = nanos.Round(0)
		}
		i, fits := nanos.Int64()
		if err != nil || !fits {
			return nil, ora.Errorf(1873, "the leading precision of the interval is too small")
		}
		return ora.Span{Seconds: i / 1e9, Nanos: int(i % 1e9)}.Encode(), nil
	}), nil
}

// numToMonths compiles NUMTOYMINTERVAL(n, 'unit').
func numToMonths(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classNumber, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(plainType(classMonths), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		weight, ok := map[string]int64{"YEAR": 12, "MONTH": 1}[strings.ToUpper(strings.TrimSpace(string(v[1])))]
		if !ok {
			return nil, ora.Errorf(1760, "illegal argument for function")
		}
		x, err := ora.DecodeNumber(v[0])
		if err != nil {
			return nil, err
		}
		months, err := x.Mul(ora.NumFromInt(weight))
		if err == nil {
			months, err = months.Round(0)
		}
		i, fits := months.Int64()
		if err != nil || !fits || i > 12e9 || i < -12e9 {
			return nil, ora.Errorf(1873, "the leading precision of the interval is too small")
		}
		return ora.EncodeMonths(int(i)), nil
	}), nil
}
