package sql

import (
	"hash/fnv"
	"math"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func numberFunctions() map[string]function {
	return map[string]function{
		"ABS":   {1, 1, false, onNumber(func(x ora.Num) (ora.Num, error) { return x.Abs(), nil }, math.Abs)},
		"FLOOR": {1, 1, false, onNumber(ora.Num.Floor, math.Floor)},
		"CEIL":  {1, 1, false, onNumber(ora.Num.Ceil, math.Ceil)},
		"SIGN": {1, 1, false, onNumber(func(x ora.Num) (ora.Num, error) { return ora.NumFromInt(int64(x.Sign())), nil },
			nil)},
		"MOD":   {2, 2, false, modulo},
		"POWER": {2, 2, false, power},
		"ROUND": {1, 2, false, roundOrTrunc(true)},
		"TRUNC": {1, 2, false, roundOrTrunc(false)},
		"BITAND": {2, 2, false, twoNumbers(func(a, b ora.Num) (ora.Num, error) {
			x, okX := a.Int64()
			y, okY := b.Int64()
			if !okX || !okY {
				return ora.Num{}, ora.Errorf(1428, "argument is out of range")
			}
			return ora.NumFromInt(x & y), nil
		})},
		"ORA_HASH": {1, 3, false, oraHash},

		"BINARY_FLOAT_NAN":       {0, 0, true, floatConstant(ora.BinaryFloat, ora.EncodeFloat(float32(math.NaN())))},
		"BINARY_FLOAT_INFINITY":  {0, 0, true, floatConstant(ora.BinaryFloat, ora.EncodeFloat(float32(math.Inf(1))))},
		"BINARY_DOUBLE_NAN":      {0, 0, true, floatConstant(ora.BinaryDouble, ora.EncodeDouble(math.NaN()))},
		"BINARY_DOUBLE_INFINITY": {0, 0, true, floatConstant(ora.BinaryDouble, ora.EncodeDouble(math.Inf(1)))},
	}
}

// onNumber compiles a function of one number; with a float version it keeps BINARY_DOUBLE.
func onNumber(fn func(ora.Num) (ora.Num, error), onFloat func(float64) float64) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		if classOf(args[0].typ) == classFloat && onFloat != nil {
			args, err := asClasses(n, args, classFloat)
			if err != nil {
				return expr{}, err
			}
			return strict(plainType(classFloat), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
				f, err := ora.DecodeDouble(v[0])
				return ora.EncodeDouble(onFloat(f)), err
			}), nil
		}
		args, err := asClasses(n, args, classNumber)
		if err != nil {
			return expr{}, err
		}
		return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			x, err := ora.DecodeNumber(v[0])
			if err != nil {
				return nil, err
			}
			y, err := fn(x)
			return y.Encode(), err
		}), nil
	}
}

func twoNumbers(fn func(a, b ora.Num) (ora.Num, error)) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, classNumber)
		if err != nil {
			return expr{}, err
		}
		return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			a, err := ora.DecodeNumber(v[0])
			if err != nil {
				return nil, err
			}
			b, err := ora.DecodeNumber(v[1])
			if err != nil {
				return nil, err
			}
			x, err := fn(a, b)
			return x.Encode(), err
		}), nil
	}
}

func modulo(c *compiler, n *call, args []expr) (expr, error) {
	for i, a := range args {
		if classOf(a.typ) == classFloat {
			return expr{}, errAt(argAt(n, i), 3001, "unimplemented feature: MOD of a binary float")
		}
	}
	return twoNumbers(func(a, b ora.Num) (ora.Num, error) { return a.Mod(b), nil })(c, n, args)
}

// power compiles POWER with whole exponents; others need logarithms to 40 digits and are refused.
func power(c *compiler, n *call, args []expr) (expr, error) {
	return twoNumbers(func(a, b ora.Num) (ora.Num, error) {
		e, ok := b.Int64()
		if !ok || e > 1000 || e < -1000 {
			return ora.Num{}, ora.Errorf(3001, "unimplemented feature: POWER with an exponent that is not a whole number up to 1000")
		}
		one := ora.NumFromInt(1)
		x, err := times(one, a, abs(int(e)))
		if e >= 0 {
			return x, err
		}
		if err == nil {
			return one.Div(x)
		}
		inverse, err := one.Div(a) // a to the power of -e is too large, but its inverse need not be too small
		if err != nil {
			return x, err
		}
		return times(one, inverse, abs(int(e)))
	})(c, n, args)
}

// times multiplies x by a, n times.
func times(x, a ora.Num, n int) (ora.Num, error) {
	var err error
	for range n {
		if x, err = x.Mul(a); err != nil {
			return x, err
		}
	}
	return x, nil
}

func floatConstant(code uint8, v ora.Value) func(*compiler, *call, []expr) (expr, error) {
	return func(*compiler, *call, []expr) (expr, error) {
		return constantExpr(ora.Type{Code: code, Bytes: uint32(len(v))}, v), nil
	}
}

// roundOrTrunc compiles ROUND and TRUNC of numbers and of dates.
func roundOrTrunc(round bool) func(*compiler, *call, []expr) (expr, error) {
	return func(c *compiler, n *call, args []expr) (expr, error) {
		switch k := classOf(args[0].typ); {
		case isDatetime(k):
			return cutDate(n, args, round)
		case k == classFloat && len(args) == 1:
			fn := math.Trunc
			if round {
				fn = math.RoundToEven
			}
			return onNumber(nil, fn)(c, n, args)
		}
		args, err := asClasses(n, args, classNumber)
		if err != nil {
			return expr{}, err
		}
		return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			x, err := ora.DecodeNumber(v[0])
			if err != nil {
				return nil, err
			}
			decimals, err := optionalInt(v, 1, 0)
			if err != nil {
				return nil, err
			}
			decimals = max(min(decimals, 200), -200)
			if round {
				r, err := x.Round(decimals)
				return r.Encode(), err
			}
			return x.Trunc(decimals).Encode(), nil
		}), nil
	}
}

// optionalInt reads argument i as a whole number, cutting a fraction.
func optionalInt(v []ora.Value, i, otherwise int) (int, error) {
	if i >= len(v) {
		return otherwise, nil
	}
	x, err := ora.DecodeNumber(v[i])
	if err != nil {
		return 0, err
	}
	x = x.Trunc(0)
	n, ok := x.Int64()
	if !ok || n > math.MaxInt32 || n < math.MinInt32 {
		n = int64(x.Sign()) * math.MaxInt32
	}
	return int(n), nil
}

// oraHash compiles ORA_HASH(x, buckets, seed). Oracle's algorithm is not published: the values differ from
// those of a real server, but are stable and spread.
func oraHash(_ *compiler, n *call, args []expr) (expr, error) {
	if k := classOf(args[0].typ); k == classLob || k == classBlob {
		return expr{}, errAt(argAt(n, 0), 932, "inconsistent datatypes: expected - got %s", k.name())
	}
	rest, err := asClasses(n, args[1:], classNumber)
	if err != nil {
		return expr{}, err
	}
	x := args[0]
	return expr{typ: numberType(), nullable: true, eval: func(f *frame) (ora.Value, error) {
		v, err := x.eval(f)
		if err != nil {
			return nil, err
		}
		settings := [2]int64{math.MaxUint32, 0}
		for i := range rest {
			s, err := rest[i].eval(f)
			if err != nil || len(s) == 0 {
				return nil, err
			}
			d, err := ora.DecodeNumber(s)
			if err != nil {
				return nil, err
			}
			d = d.Trunc(0)
			k, ok := d.Int64()
			if !ok || k < 0 || k > math.MaxUint32 {
				return nil, ora.Errorf(12801, "ORA_HASH: bucket and seed must be between 0 and 4294967295")
			}
			settings[i] = k
		}
		return ora.EncodeInt(int64(hash(v, uint32(settings[1])) % uint64(settings[0]+1))), nil
	}}, nil
}

// hash is FNV-1a with a seed and a final mix.
func hash(v ora.Value, seed uint32) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	h.Write(v)
	s := h.Sum64()
	s ^= s >> 33
	s *= 0xff51afd7ed558ccd
	return s ^ s>>33
}
