package ora

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same rules everywhere, whatever the machine has
)

// Region is a time zone with a name and rules. Its number stands in values of TIMESTAMP WITH TIME ZONE.
type Region struct {
	Name string
	ID   uint16
	loc  *time.Location
}

// ErrNoSuchTime is a wall clock that the start of summer time skips (ORA-01878).
var ErrNoSuchTime = errors.New("specified field not found in datetime or interval")

// regionNumbers are Oracle's numbers of the regions that are known here, a part of the few hundred it has.
const regionNumbers = `44 Africa/Cairo;72 Africa/Johannesburg;66 Africa/Lagos;53 Africa/Nairobi;106 America/Anchorage;
687 America/Argentina/Buenos_Aires;195 America/Bogota;205 America/Caracas;101 America/Chicago;102 America/Denver;
120 America/Halifax;201 America/Lima;103 America/Los_Angeles;141 America/Mexico_City;100 America/New_York;
109 America/Phoenix;194 America/Santiago;188 America/Sao_Paulo;118 America/St_Johns;220 America/Toronto;
130 America/Vancouver;296 Asia/Bangkok;260 Asia/Calcutta;756 Asia/Dhaka;298 Asia/Dubai;813 Asia/Ho_Chi_Minh;
254 Asia/Hong_Kong;261 Asia/Jakarta;266 Asia/Jerusalem;284 Asia/Karachi;797 Asia/Kathmandu;772 Asia/Kolkata;
286 Asia/Manila;274 Asia/Pyongyang;288 Asia/Riyadh;273 Asia/Seoul;250 Asia/Shanghai;292 Asia/Singapore;
255 Asia/Taipei;264 Asia/Tehran;267 Asia/Tokyo;309 Asia/Vladivostok;334 Atlantic/Reykjavik;349 Australia/Adelaide;
347 Australia/Brisbane;354 Australia/Lord_Howe;351 Australia/Melbourne;346 Australia/Perth;352 Australia/Sydney;
366 CET;215 CST6CDT;368 EET;211 EST;214 EST5EDT;396 Europe/Amsterdam;385 Europe/Athens;383 Europe/Berlin;
376 Europe/Brussels;371 Europe/Dublin;381 Europe/Helsinki;407 Europe/Istanbul;408 Europe/Kiev;399 Europe/Lisbon;
369 Europe/London;404 Europe/Madrid;402 Europe/Moscow;397 Europe/Oslo;382 Europe/Paris;378 Europe/Prague;
387 Europe/Rome;405 Europe/Stockholm;374 Europe/Vienna;398 Europe/Warsaw;406 Europe/Zurich;213 HST;779 Japan;367 MET;
212 MST;216 MST7MDT;217 PST8PDT;479 Pacific/Apia;471 Pacific/Auckland;450 Pacific/Honolulu;762 PRC;785 ROK;
804 Singapore;618 US/Alaska;613 US/Central;612 US/Eastern;962 US/Hawaii;1126 US/Mountain;615 US/Pacific;5121 UTC;365 WET`

type regionTable struct {
	byName map[string]*Region // in capitals
	byID   map[uint16]*Region
}

// regions reads the table, once.
var regions = sync.OnceValue(func() regionTable {
	t := regionTable{map[string]*Region{}, map[uint16]*Region{}}
	for _, line := range strings.Split(regionNumbers, ";") {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(id, 10, 16)
		if err != nil {
			panic(err) // the table is a constant
		}
		loc, err := time.LoadLocation(name)
		if err != nil {
			panic(err) // the rules are part of the program
		}
		r := &Region{name, uint16(n), loc}
		t.byName[strings.ToUpper(name)], t.byID[r.ID] = r, r
	}
	return t
})

// RegionByName finds a region, compared without case.
func RegionByName(name string) (*Region, bool) {
	r, ok := regions().byName[strings.ToUpper(name)]
	return r, ok
}

// RegionOf is the region in a TIMESTAMP WITH TIME ZONE; nil for one with an offset.
func RegionOf(v Value) *Region {
	if len(v) != 13 || v[11]&0x80 == 0 {
		return nil
	}
	return regions().byID[uint16(v[11]&0x7F)<<6|uint16(v[12]>>2)]
}

// AtUTC is the offset in minutes east of UTC at a moment. Offsets with seconds, which only the times before
// standard time had, are cut.
func (r *Region) AtUTC(utc Time) int {
	_, seconds := utc.Go().In(r.loc).Zone()
	return seconds / 60
}

// AtWall is the offset at a wall clock. One that comes twice is taken to be standard time, as Oracle does by
// default.
func (r *Region) AtWall(wall Time) (int, error) {
	const day = 86400
	a, b := r.AtUTC(wall.AddSeconds(-day)), r.AtUTC(wall.AddSeconds(day))
	if a == b {
		return a, nil
	}
	fits := func(offset int) bool { return r.AtUTC(wall.AddSeconds(-int64(offset)*60)) == offset }
	switch {
	case fits(a) && fits(b):
		return min(a, b), nil
	case fits(a):
		return a, nil
	case fits(b):
		return b, nil
	}
	return 0, ErrNoSuchTime
}

// Abbreviation is the short name at a moment, such as CEST.
func (r *Region) Abbreviation(utc Time) string {
	name, _ := utc.Go().In(r.loc).Zone()
	return name
}

// EncodeRegion writes a TIMESTAMP WITH TIME ZONE from a moment in UTC and a region.
func (t Time) EncodeRegion(r *Region) Value {
	v := t.appendDate(make(Value, 0, 13))
	v = binary.BigEndian.AppendUint32(v, uint32(t.Nano))
	return append(v, 0x80|byte(r.ID>>6), byte(r.ID<<2)|1)
}
