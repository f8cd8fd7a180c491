package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need no zone files of the host
)

func TestSize(t *testing.T) {
	for in, want := range map[string]Size{"0B": 0, "1B": 1, "128MiB": 128 << 20, "1 GiB": 1 << 30, "1536KiB": 1536 << 10} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err != nil || s != want {
			t.Errorf("%s: got %d, %v, want %d", in, s, err, want)
		}
	}
	for _, in := range []string{"", "128", "128MB", "1.5GiB", "-1MiB", "MiB", "9999999999TiB", "1Mi", "10 mib"} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted as %d", in, s)
		}
	}
	if got := fmt.Sprint(Size(1536<<10), Size(0), Size(3)); got != "1536KiB 0B 3B" {
		t.Errorf("got %s", got)
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"15s": 15 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "1.5s": 1500 * time.Millisecond, "250ms": 250 * time.Millisecond,
	} {
		got, err := parseDuration(in)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "15", "1.5", "-1s", "s", "1 s", "1y", "400d", strings.Repeat("9", 400) + "s", "NaN", "1e3s"} {
		if got, err := parseDuration(in); err == nil {
			t.Errorf("%q is accepted as %v", in, got)
		}
	}
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", 48 * time.Hour: "2d", 0: "0s", 61 * time.Second: "1m1s"} {
		if got := formatDuration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFileMode(t *testing.T) {
	var m FileMode
	for _, in := range []string{"0640", "640", "0o640"} {
		if err := m.UnmarshalText([]byte(in)); err != nil || m.String() != "0640" || m.Dir().String() != "0750" {
			t.Errorf("%s: got %s and %s, %v, want 0640 and 0750", in, m, m.Dir(), err)
		}
	}
	for _, in := range []string{"", "0", "rw-r-----", "0888", "0040", "0646", "0750", "02640"} {
		if err := m.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}

func TestParseDate(t *testing.T) {
	seoul, err := time.LoadLocation("Asia/Seoul")
	if err != nil {
		t.Fatal(err)
	}
	// 18:00 in London on the 28th is 03:00 in Seoul on the 29th.
	now := time.Date(2026, 9, 28, 18, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2026-09-28": "2026-09-28", "today": "2026-09-29", "Yesterday": "2026-09-28", "today-2": "2026-09-27",
		"today-0": "2026-09-29", "2024-02-29": "2024-02-29", "today-30": "2026-08-30",
	} {
		got, err := ParseDate(in, now, seoul)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "2026-02-29", "20260928", "28/09/2026", "today+1", "tomorrow", "1582-10-15", "2026-9-28", "2026-09-28T00:00:00Z", "today-"} {
		if got, err := ParseDate(in, now, seoul); err == nil {
			t.Errorf("%q is accepted as %s", in, got)
		}
	}
}

func TestTemplate(t *testing.T) {
	for in, want := range map[string]string{
		"{date}": "2026-09-28", "{date:yyyyMMdd}": "20260928", "{date:yyyy}": "2026", "m{date:MM}": "m09", "{key}x": "2026-09-28x",
		"plain": "plain", "{date:yyyy.MM}-{date:dd}": "2026.09-28", "2006-01": "2006-01",
	} {
		var v Template
		if err := v.UnmarshalText([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := v.Render(date(t, "2026-09-28")); got != want || v.String() != in {
			t.Errorf("%s: got %s, text %s, want %s", in, got, v, want)
		}
	}
	for _, in := range []string{"", "{", "}", "{}", "{day}", "{date:}", "{date:YYYY}", "{date:yyyyMMddHH}", "a\nb", "{key:yyyy}", "{{date}}", "__HIVE_DEFAULT_PARTITION__"} {
		var v Template
		if err := v.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{"strategie": "strategy", "stratgey": "strategy", "HOST": "host", "max-rows": "max_rows", "xyz": "", "prot": "port"} {
		if got := nearest(word, []string{"strategy", "host", "max_rows", "port"}); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	if got := nearest(strings.Repeat("a", 100), []string{strings.Repeat("a", 99)}); got != "" {
		t.Errorf("a very long word gets %q", got)
	}
}
