package ora

import (
	"errors"
	"testing"
)

func TestRegions(t *testing.T) {
	berlin, ok := RegionByName("europe/BERLIN")
	if !ok {
		t.Fatal("no Europe/Berlin")
	}
	for _, c := range []struct {
		wall   Time
		offset int
	}{
		{Time{Year: 2026, Month: 7, Day: 1, Hour: 12}, 120}, {Time{Year: 2026, Month: 1, Day: 1}, 60},
		{Time{Year: 2026, Month: 10, Day: 25, Hour: 2, Minute: 30}, 60}, {Time{Year: 2026, Month: 3, Day: 29, Hour: 3}, 120},
		{Time{Year: 2026, Month: 3, Day: 29, Hour: 1, Minute: 59}, 60},
	} {
		if got, err := berlin.AtWall(c.wall); err != nil || got != c.offset {
			t.Errorf("%v: got %d, %v, want %d", c.wall, got, err, c.offset)
		}
	}
	if _, err := berlin.AtWall(Time{Year: 2026, Month: 3, Day: 29, Hour: 2, Minute: 30}); !errors.Is(err, ErrNoSuchTime) {
		t.Errorf("a time that is skipped: got %v", err)
	}
	utc := Time{Year: 2026, Month: 7, Day: 1, Hour: 10}
	v := utc.EncodeRegion(berlin)
	wall, offset, err := DecodeTZ(v)
	if err != nil || offset != 120 || wall.Hour != 12 || RegionOf(v) != berlin || berlin.Abbreviation(utc) != "CEST" {
		t.Errorf("% x: got %v, %d, %v", []byte(v), wall, offset, err)
	}
	if len(regions().byID) != len(regions().byName) {
		t.Error("two regions have one number")
	}
	if _, ok := RegionByName("Mars/Olympus"); ok {
		t.Error("a region that is none was found")
	}
}
