package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func textFunctions() map[string]function {
	return map[string]function{
		"UPPER":   {1, 1, false, onText(strings.ToUpper)},
		"LOWER":   {1, 1, false, onText(strings.ToLower)},
		"LTRIM":   {1, 2, false, trimFunction("LEADING")},
		"RTRIM":   {1, 2, false, trimFunction("TRAILING")},
		"LENGTH":  {1, 1, false, measure(func(t ora.Type, v ora.Value) int { return charCount(t, v) })},
		"LENGTHB": {1, 1, false, measure(func(_ ora.Type, v ora.Value) int { return len(v) })},
		"SUBSTR":  {2, 3, false, substr},
		"SUBSTRB": {2, 3, false, substrB},
		"INSTR":   {2, 4, false, instr},
		"REPLACE": {2, 3, false, replace},
		"CONCAT": {2, 2, false, func(c *compiler, n *call, _ []expr) (expr, error) {
			return c.concat(&binary{n.loc, "||", n.args[0], n.args[1]})
		}},
		"LPAD":      {2, 3, false, pad(true)},
		"RPAD":      {2, 3, false, pad(false)},
		"TRANSLATE": {3, 3, false, translate},
		"CHR":       {1, 1, false, chr},
		"ASCII":     {1, 1, false, ascii},
		"INITCAP":   {1, 1, false, onText(initCap)},
		"RAWTOHEX":  {1, 1, false, convertFunction(classText)},
		"HEXTORAW":  {1, 1, false, convertFunction(classRaw)},

		"UTL_RAW.CAST_TO_RAW": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			args, err := asClasses(n, args, classText)
			if err != nil {
				return expr{}, err
			}
			args[0].typ = ora.Type{Code: ora.Raw, Bytes: min(args[0].typ.Bytes, maxRaw)}
			return args[0], nil
		}},
		"UTL_RAW.CAST_TO_VARCHAR2": {1, 1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			args, err := asClasses(n, args, classRaw)
			if err != nil {
				return expr{}, err
			}
			args[0].typ = textType(args[0].typ.Bytes)
			return args[0], nil
		}},
	}
}

// onText compiles a function from text to text of about the same length.
func onText(fn func(string) string) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, classText)
		if err != nil {
			return expr{}, err
		}
		return strict(args[0].typ, args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			return ora.Value(fn(string(v[0]))), nil
		}), nil
	}
}

// measure compiles a length in the argument's own charset.
func measure(fn func(ora.Type, ora.Value) int) func(*compiler, *call, []expr) (expr, error) {
	return func(c *compiler, n *call, args []expr) (expr, error) {
		if isLob(args[0].typ) {
			return lobLength(c, n, args)
		}
		fn := fn
		switch classOf(args[0].typ) {
		case classText, classLob:
		case classRaw, classBlob:
			fn = func(_ ora.Type, v ora.Value) int { return len(v) }
		default:
			e, err := args[0].to(classText, argAt(n, 0))
			if err != nil {
				return expr{}, err
			}
			args[0] = e
		}
		typ := args[0].typ
		return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			return ora.EncodeInt(int64(fn(typ, v[0]))), nil
		}), nil
	}
}

// slice is the part of n elements that SUBSTR's position and length name; ok is false when there is none.
func slice(n int, v []ora.Value) (from, to int, ok bool, err error) {
	pos, err := optionalInt(v, 1, 1)
	if err != nil {
		return 0, 0, false, err
	}
	length, err := optionalInt(v, 2, n)
	if err != nil {
		return 0, 0, false, err
	}
	switch {
	case pos < 0:
		pos += n
	case pos > 0:
		pos--
	}
	if pos < 0 || pos >= n || length < 1 {
		return 0, 0, false, nil
	}
	return pos, pos + min(length, n-pos), true, nil
}

func substr(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(args[0].typ.Bytes), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		runes := []rune(string(v[0]))
		from, to, ok, err := slice(len(runes), v)
		if !ok {
			return nil, err
		}
		return ora.Value(string(runes[from:to])), nil
	}), nil
}

func substrB(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(args[0].typ.Bytes), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		from, to, ok, err := slice(len(v[0]), v)
		if !ok {
			return nil, err
		}
		part := append(ora.Value(nil), v[0][from:to]...)
		// Halves of characters become blanks.
		for i := 0; i < len(part) && !utf8.RuneStart(part[i]); i++ {
			part[i] = ' '
		}
		for i := len(part) - 1; i >= 0; i-- {
			if utf8.RuneStart(part[i]) {
				if !utf8.FullRune(part[i:]) {
					copy(part[i:], strings.Repeat(" ", len(part)-i))
				}
				break
			}
		}
		return part, nil
	}), nil
}

func instr(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText, classText, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		pos, err := optionalInt(v, 2, 1)
		if err != nil {
			return nil, err
		}
		nth, err := optionalInt(v, 3, 1)
		if err != nil {
			return nil, err
		}
		if nth < 1 {
			return nil, ora.Errorf(1428, "argument '%d' is out of range", nth)
		}
		return ora.EncodeInt(int64(find([]rune(string(v[0])), []rune(string(v[1])), pos, nth))), nil
	}), nil
}

// find is INSTR: the 1-based position of the nth occurrence from pos on, backwards from the end when pos is
// negative; 0 for none.
func find(s, part []rune, pos, nth int) int {
	step := 1
	i := pos - 1
	if pos < 0 {
		step, i = -1, len(s)+pos
	}
	if pos == 0 {
		return 0
	}
	for ; i >= 0 && i < len(s); i += step {
		if i+len(part) <= len(s) && string(s[i:i+len(part)]) == string(part) {
			if nth--; nth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// replace compiles REPLACE; a NULL or missing replacement deletes, a NULL search changes nothing.
func replace(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: textType(maxVarchar), nullable: true, eval: func(f *frame) (ora.Value, error) {
		var parts [3]string
		for i := range args {
			v, err := args[i].eval(f)
			if err != nil {
				return nil, err
			}
			parts[i] = string(v)
		}
		if parts[1] == "" {
			return ora.Value(parts[0]), nil
		}
		n := strings.Count(parts[0], parts[1])
		if len(parts[0])+n*(len(parts[2])-len(parts[1])) > maxVarchar {
			return nil, ora.Errorf(1489, "result of string concatenation is too long")
		}
		return ora.Value(strings.ReplaceAll(parts[0], parts[1], parts[2])), nil
	}}, nil
}

func pad(left bool) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, classText, classNumber, classText)
		if err != nil {
			return expr{}, err
		}
		return strict(textType(maxVarchar), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			width, err := optionalInt(v, 1, 0)
			if err != nil || width < 1 {
				return nil, err
			}
			s, fill := []rune(string(v[0])), []rune(" ")
			if len(v) > 2 {
				fill = []rune(string(v[2]))
			}
			if len(s) >= width {
				return ora.Value(string(s[:width])), nil
			}
			filler := make([]rune, 0, max(min(width, maxVarchar)-len(s), 0))
			for len(filler) < cap(filler) {
				filler = append(filler, fill[len(filler)%len(fill)])
			}
			if left {
				return ora.Value(string(filler) + string(s)), nil
			}
			return ora.Value(string(s) + string(filler)), nil
		}), nil
	}
}

func translate(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(maxVarchar), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		from, to := []rune(string(v[1])), []rune(string(v[2]))
		return ora.Value(strings.Map(func(r rune) rune {
			for i, f := range from {
				if f == r {
					if i < len(to) {
						return to[i]
					}
					return -1
				}
			}
			return r
		}, string(v[0]))), nil
	}), nil
}

// chr compiles CHR: the bytes of a character in the database charset, as one number.
func chr(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(4), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		i, err := optionalInt(v, 0, 0)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, ora.Errorf(1426, "numeric overflow")
		}
		var b ora.Value
		for shift := 24; shift >= 0; shift -= 8 {
			if c := byte(i >> shift); c != 0 || len(b) > 0 || shift == 0 {
				b = append(b, c)
			}
		}
		return b, nil
	}), nil
}

func ascii(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		_, size := utf8.DecodeRune(v[0])
		code := int64(0)
		for _, b := range v[0][:size] {
			code = code<<8 | int64(b)
		}
		return ora.EncodeInt(code), nil
	}), nil
}

func initCap(s string) string {
	up := true
	return strings.Map(func(r rune) rune {
		letter := isWordRune(r) && r != '_' && r != '$' && r != '#'
		c := []rune(strings.ToLower(string(r)))[0]
		if up && letter {
			c = []rune(strings.ToUpper(string(r)))[0]
		}
		up = !letter
		return c
	}, s)
}

// trimFunction compiles LTRIM and RTRIM, which take a set of characters.
func trimFunction(side string) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, classText)
		if err != nil {
			return expr{}, err
		}
		return trimOf(args, side), nil
	}
}

// trimOf trims args[0] of the characters of args[1], or blanks.
func trimOf(args []expr, side string) expr {
	return strict(textType(args[0].typ.Bytes), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		s, set := string(v[0]), " "
		if len(v) > 1 {
			set = string(v[1])
		}
		if side != "TRAILING" {
			s = strings.TrimLeft(s, set)
		}
		if side != "LEADING" {
			s = strings.TrimRight(s, set)
		}
		return ora.Value(s), nil
	})
}

// trim compiles TRIM([side] [char FROM] x).
func (c *compiler) trim(n *trimExpr) (expr, error) {
	x, err := c.exprAs(n.x, classText)
	if err != nil {
		return expr{}, err
	}
	args := []expr{x}
	if n.chars != nil {
		set, err := c.exprAs(n.chars, classText)
		if err != nil {
			return expr{}, err
		}
		args = append(args, set.through(set.typ, func(_ *execution, v ora.Value) (ora.Value, error) {
			if utf8.RuneCount(v) != 1 {
				return nil, ora.Errorf(30001, "trim set should have only one character")
			}
			return v, nil
		}))
	}
	return trimOf(args, n.side), nil
}

// convertFunction compiles a function that only converts.
func convertFunction(to class) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, to)
		if err != nil {
			return expr{}, err
		}
		return args[0], nil
	}
}
