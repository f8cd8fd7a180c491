package sql

import "github.com/loadctl/loadctl/integration/orasim/ora"

// decodeTime reads a value of any datetime type as the wall clock that the session sees.
func (x *execution) decodeTime(t ora.Type, v ora.Value) (zoned, error) {
	digits := int(t.Scale)
	switch classOf(t) {
	case classTZ:
		wall, offset, err := ora.DecodeTZ(v)
		return zoned{wall: wall, offset: offset, region: ora.RegionOf(v), zone: true, digits: digits}, err
	case classLTZ:
		utc, err := ora.DecodeTime(v)
		z := x.zone.atUTC(utc)
		z.digits = digits
		return z, err
	}
	wall, err := ora.DecodeTime(v)
	return zoned{wall: wall, digits: digits}, err
}

// encodeTime writes a time as a value of a class. A time without a zone is taken to be in the session's.
func (x *execution) encodeTime(t zoned, c class) (ora.Value, error) {
	if y := t.wall.Year; y < ora.MinYear || y > ora.MaxYear {
		return nil, ora.Errorf(1841, "(full) year must be between -4713 and +9999, and not be 0")
	}
	switch c {
	case classDate:
		return t.wall.EncodeDate(), nil
	case classTZ, classLTZ:
		t, err := x.located(t)
		if err != nil || c == classLTZ {
			return t.utc().EncodeTimestamp(), err
		}
		return t.encodeTZ(), nil
	}
	return t.wall.EncodeTimestamp(), nil
}

// encodeTZ writes a TIMESTAMP WITH TIME ZONE.
func (t zoned) encodeTZ() ora.Value {
	if t.region != nil {
		return t.utc().EncodeRegion(t.region)
	}
	return t.wall.EncodeTZ(t.offset)
}

// toTime converts between datetimes, and from text by the session's format.
func toTime(from ora.Type, c class) conversion {
	switch classOf(from) {
	case classDate, classTimestamp, classTZ, classLTZ:
		if classOf(from) == classDate && c == classTimestamp {
			return func(_ *execution, v ora.Value) (ora.Value, error) { return v, nil }
		}
		return func(x *execution, v ora.Value) (ora.Value, error) {
			t, err := x.decodeTime(from, v)
			if err != nil {
				return nil, err
			}
			return x.encodeTime(t, c)
		}
	case classText:
		return func(x *execution, v ora.Value) (ora.Value, error) {
			model := x.nls.timestamp
			switch c {
			case classDate:
				model = x.nls.date
			case classTZ:
				model = x.nls.timestampTZ
			}
			return x.parseTime(textOf(from, v), model, c)
		}
	}
	return nil
}

// parseTime reads a text by a format model into a value of a class.
func (x *execution) parseTime(text, model string, c class) (ora.Value, error) {
	f, err := x.dateFormat(model)
	if err != nil {
		return nil, err
	}
	t, err := f.parse(text, parseContext{now: x.now.wall, nls: x.nls})
	if err != nil {
		return nil, err
	}
	if c != classTZ && c != classLTZ {
		t.zone = false
	}
	return x.encodeTime(t, c)
}
