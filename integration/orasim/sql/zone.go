package sql

import (
	"errors"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// zone is a time zone: an offset, or a region with rules.
type zone struct {
	minutes int         // east of UTC
	region  *ora.Region // nil: the offset holds always
}

// parseZone reads +09:00, -3:30, UTC and the like, and names of regions. UTC and GMT are taken as the offset 0.
func parseZone(s string) (zone, error) {
	s = strings.TrimSpace(s)
	switch strings.ToUpper(s) {
	case "UTC", "GMT", "Z", "ETC/UTC", "ETC/GMT":
		return zone{}, nil
	case "":
		return zone{}, noRegion()
	}
	if r, ok := ora.RegionByName(s); ok {
		return zone{region: r}, nil
	}
	sign := 1
	rest := s
	switch s[0] {
	case '-':
		sign, rest = -1, s[1:]
	case '+':
		rest = s[1:]
	}
	hours, mins, _ := strings.Cut(rest, ":")
	h, err1 := strconv.Atoi(strings.TrimSpace(hours))
	m, err2 := 0, error(nil)
	if mins != "" {
		m, err2 = strconv.Atoi(mins)
	}
	if err1 != nil || err2 != nil {
		return zone{}, noRegion()
	}
	if h < 0 || h > 14 || m < 0 || m > 59 {
		return zone{}, ora.Errorf(1874, "time zone hour must be between -15 and 15")
	}
	return zone{minutes: sign * (h*60 + m)}, nil
}

func noRegion() error { return ora.Errorf(1882, "timezone region not found") }

// text is how SESSIONTIMEZONE shows the zone.
func (z zone) text() string {
	if z.region != nil {
		return z.region.Name
	}
	return ora.OffsetText(z.minutes)
}

// atUTC is a moment on the clocks of the zone.
func (z zone) atUTC(utc ora.Time) zoned {
	offset := z.minutes
	if z.region != nil {
		offset = z.region.AtUTC(utc)
	}
	return zoned{wall: utc.AddSeconds(int64(offset) * 60), offset: offset, region: z.region, zone: true}
}

// atWall is a wall clock of the zone: ORA-01878 for one that the start of summer time skips.
func (z zone) atWall(wall ora.Time) (zoned, error) {
	t := zoned{wall: wall, offset: z.minutes, region: z.region, zone: true}
	if z.region == nil {
		return t, nil
	}
	var err error
	if t.offset, err = z.region.AtWall(wall); errors.Is(err, ora.ErrNoSuchTime) {
		err = ora.Errorf(1878, "%v", err)
	}
	return t, err
}

// named is a wall clock of a region with its abbreviation, which says which of two times is meant where an end
// of summer time gives both: ORA-01857 for one that the region does not have then. "" says nothing.
func (z zone) named(wall ora.Time, abbreviation string) (zoned, error) {
	if abbreviation == "" {
		return z.atWall(wall)
	}
	for _, hours := range []int64{-1, 1} {
		nearby := z.region.AtUTC(wall.AddSeconds(hours * 86400))
		t := zoned{wall: wall, offset: nearby, region: z.region, zone: true}
		if z.region.AtUTC(t.utc()) == nearby && strings.EqualFold(z.region.Abbreviation(t.utc()), abbreviation) {
			return t, nil
		}
	}
	return zoned{}, ora.Errorf(1857, "not a valid time zone")
}

// of is the zone that a time is in.
func (t zoned) of() zone { return zone{t.offset, t.region} }

// utc is the moment of a time with a zone.
func (t zoned) utc() ora.Time { return t.wall.AddSeconds(-int64(t.offset) * 60) }

// located is a time in a zone; one that has none is in the session's.
func (x *execution) located(t zoned) (zoned, error) {
	if t.zone {
		return t, nil
	}
	at, err := x.zone.atWall(t.wall)
	at.digits = t.digits
	return at, err
}
