package main

import (
	"testing"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(105000), "105,000"}, {count(-1234567), "-1,234,567"}, {count(41204118), "41,204,118"},
		{about(0), "0"}, {about(999), "999"}, {about(1500), "1.5 k"}, {about(27605912), "27.6 M"}, {about(8.1e9), "8.1 G"},
		{size(0), "0 B"}, {size(1500), "1.5 kB"}, {size(3_900_000), "3.9 MB"}, {size(6_212_330_112), "6.2 GB"},
		{minutes(0), "0:00"}, {minutes(-time.Second), "0:00"}, {minutes(41 * time.Second), "0:41"}, {minutes(112 * time.Second), "1:52"},
		{minutes(2*time.Hour + 3*time.Minute + 11*time.Second), "2:03:11"},
		{ago(40 * time.Second), "40 s"}, {ago(13 * time.Minute), "13 min"}, {ago(5 * time.Hour), "5 h"}, {ago(72 * time.Hour), "3 d"},
		{plural(1, "chunk"), "1 chunk"}, {plural(0, "chunk"), "0 chunks"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestEveryStateHasALook: a state that is added must be placed, not fall under failures.
func TestEveryStateHasALook(t *testing.T) {
	for _, s := range ledger.States {
		failed := len(s.Name) > 7 && s.Name[:7] == "FAILED_"
		if (lookOf(s.Name).sign == "✗") != failed {
			t.Errorf("state %s looks like %q", s.Name, lookOf(s.Name).sign)
		}
		if s.Active && s.Name != ledger.PublishUnknown && doing(s.Name) == "over" {
			t.Errorf("state %s is active, and nothing is said to be done in it", s.Name)
		}
	}
}

func TestTableAlignsPaintedCells(t *testing.T) {
	tab := &table{right: []bool{false, true}}
	tab.add("STATE", "ROWS", "WHY")
	tab.add("\x1b[32m✓ SUCCESS\x1b[0m", "1", "일본 x")
	tab.add("○ CREATED", "105,000", "")
	want := []string{"STATE         ROWS  WHY", "\x1b[32m✓ SUCCESS\x1b[0m        1  일본 x", "○ CREATED  105,000"}
	for i, got := range tab.lines() {
		if got != want[i] {
			t.Errorf("line %d is %q, want %q", i, got, want[i])
		}
	}
}

func TestSameValue(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		a, b *string
		want bool
	}{
		{text("71853075.00"), text("71853075"), true},
		{text("99999999999999999999999999999999999999.01"), text("99999999999999999999999999999999999999.02"), false},
		{nil, nil, true}, {nil, text("0"), false}, {text("2026-09-28 00:00:00"), text("2026-09-28 00:00:00"), true}, {text("a"), text("b"), false},
	} {
		if got := sameValue(c.a, c.b); got != c.want {
			t.Errorf("sameValue(%v, %v) = %v", c.a, c.b, got)
		}
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 9, 29, 3, 0, 0, 0, time.Local)
	day := func(d int) time.Time { return time.Date(2026, 9, d, 0, 0, 0, 0, time.Local) }
	for text, want := range map[string]time.Time{
		"": {}, "2h": now.Add(-2 * time.Hour), "7d": now.AddDate(0, 0, -7), "today": day(29), "yesterday": day(28), "2026-09-01": day(1),
	} {
		got, err := parseSince(text, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("since %q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-2h", "soon", "2026-13-01"} {
		if _, err := parseSince(text, now); err == nil {
			t.Errorf("since %q is accepted", text)
		}
	}
}
