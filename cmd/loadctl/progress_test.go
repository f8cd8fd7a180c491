package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

// noon is when the tests look.
var noon = time.Date(2026, 9, 29, 3, 0, 0, 0, time.UTC)

// extracting is a run of two of three partitions at work.
func extracting() sight {
	expected := func(n int64) *int64 { return &n }
	return sight{
		at: noon,
		run: ledger.Run{
			ID: uuid.MustParse("0192f3a1-0000-7000-8000-0000009f04c2"), Job: "orders", Key: "2026-09-28", Number: 1, SCN: "8839201174",
			State: ledger.Extracting, Since: noon.Add(-time.Minute), CreatedAt: noon.Add(-62 * time.Second), ExpectedRows: 41204118, Strategy: "range",
			Progress: ledger.Progress{Partitions: 3, PartitionsDone: 1, RowsDone: 27605912, Chunks: 4, Bytes: 4123456789, Retries: 1},
		},
		ladder: []ledger.Reached{{Boundary: ledger.Accepted, At: noon.Add(-62 * time.Second)}, {Boundary: ledger.Planned, At: noon.Add(-time.Minute)}},
		partitions: []ledger.Partition{
			{Index: 0, State: ledger.PartitionSuccess, Expected: expected(20e6), Rows: 20e6},
			{Index: 1, State: ledger.PartitionRunning, Expected: expected(12e6), RowsSoFar: 6e6, Worker: "dwh@host-b", Attempts: 1},
			{Index: 2, State: ledger.PartitionRetry, Expected: expected(9204118), Worker: "dwh@host-a", Attempts: 2, Message: "ORA-12570 at 03:10:31"},
		},
	}
}

func TestBlock(t *testing.T) {
	want := []string{
		"orders/2026-09-28#1  9f04c2  scn 8839201174  ▶ EXTRACTING  ■ accepted ■ planned ▶ extracted · staged · published · verified",
		"  ████████████████░░░░░░░░  66%  27.6 M / 41.2 M rows   520.0 k rows/s   4.1 GB   1/3 partitions   ETA 0:26",
		"  p1   ████████░░░░░░░░  50%  dwh@host-b",
		"  p2   ░░░░░░░░░░░░░░░░   0%  dwh@host-a  attempt 2  waits (ORA-12570 at 03:10:31)",
	}
	got := block(extracting(), 520000, 160)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBlockOfUsualWidth has the ladder on a line of its own.
func TestBlockOfUsualWidth(t *testing.T) {
	got := block(extracting(), 520000, 80)
	want := []string{
		"orders/2026-09-28#1  9f04c2  scn 8839201174  ▶ EXTRACTING",
		"  ■ accepted ■ planned ▶ extracted · staged · published · verified",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
}

// TestBlockFits: a line that wrapped would break the drawing in place.
func TestBlockFits(t *testing.T) {
	for _, line := range block(extracting(), 520000, 40) {
		if w := cellWidth(line); w > 40 {
			t.Errorf("%q is %d columns wide, want 40 at most", line, w)
		}
	}
}

func TestBlockNamesOnlySomePartitions(t *testing.T) {
	s := extracting()
	for range 9 {
		s.partitions = append(s.partitions, s.partitions[1])
	}
	got := block(s, 0, 160)
	if last := got[len(got)-1]; last != "  and 5 more" || len(got) != 2+partitionLines+1 {
		t.Errorf("block has %d lines and ends with %q", len(got), last)
	}
}

func TestScreenKeepsTheBlockLast(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b}
	s.draw([]string{"one", "two"})
	if _, err := s.Write([]byte("a warning\n")); err != nil {
		t.Fatal(err)
	}
	s.draw([]string{"three"})
	s.draw(nil)
	if _, err := s.Write([]byte("the result\n")); err != nil {
		t.Fatal(err)
	}
	want := "one\ntwo\n" + "\x1b[2A\r\x1b[Ja warning\none\ntwo\n" + "\x1b[2A\r\x1b[Jthree\n" + "\x1b[1A\r\x1b[J" + "the result\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// testApp prints its notes into a buffer, off a terminal.
func testApp(t *testing.T, out, err io.Writer) *app {
	t.Helper()
	a := newApp(Process{Out: out, Err: err, Getenv: func(string) string { return "" }, Hard: t.Context()})
	a.output, a.color, a.logLevel = "table", "auto", "warn"
	a.now = func() time.Time { return noon }
	return a
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	d := &lineDisplay{a: testApp(t, io.Discard, &b), fresh: true, every: time.Minute, until: ledger.Verified}
	s := extracting()
	before := s
	before.ladder, before.run.RowsDone, before.run.State = s.ladder[:1], 0, ledger.Created
	before.at = noon.Add(-62 * time.Second)
	for _, seen := range []sight{before, s} {
		d.update(seen)
	}
	s.at = noon.Add(59 * time.Second) // too soon for the next line
	d.update(s)
	s.at, s.run.RowsDone = noon.Add(60*time.Second), 28605912
	d.update(s)
	s.ladder = append(s.ladder, ledger.Reached{Boundary: ledger.Extracted, At: noon.Add(80 * time.Second)})
	s.run.State, s.run.RowsDone = ledger.ExtractedValidated, 41204118
	d.update(s)
	clock := func(after time.Duration) string { return clockTime(noon.Add(after)) }
	want := "loadctl: " + clock(-62*time.Second) + " orders/2026-09-28#1 9f04c2 accepted\n" +
		"loadctl: " + clock(-time.Minute) + " planned    scn=8839201174 partitions=3 rows=41204118 strategy=range\n" +
		"loadctl: " + clock(time.Minute) + " extracting 69% rows=28605912 rate=16.7k/s eta=12m36s retries=1\n" +
		"loadctl: " + clock(80*time.Second) + " extracted  rows=41204118 bytes=4123456789 chunks=4\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestQuietSpeaksOnlyWhenAsked(t *testing.T) {
	var b bytes.Buffer
	a := testApp(t, io.Discard, &b)
	a.quiet = true
	d := a.display(true, time.Second, ledger.Verified)
	d.update(extracting())
	if b.Len() > 0 {
		t.Errorf("quiet printed %q", b.String())
	}
	d.tell(extracting())
	if got := b.String(); !strings.Contains(got, "extracting 66% rows=27605912") {
		t.Errorf("asked, it printed %q", got)
	}
}

func TestRateForgetsLostAttempts(t *testing.T) {
	var r rate
	r.add(noon, 1000)
	if got := r.add(noon.Add(10*time.Second), 2000); got != 100 {
		t.Errorf("rate is %v, want 100", got)
	}
	if got := r.add(noon.Add(20*time.Second), 500); got != 0 {
		t.Errorf("rate after a lost attempt is %v, want 0: not known", got)
	}
	if got := r.add(noon.Add(30*time.Second), 700); got != 20 {
		t.Errorf("rate is %v, want 20", got)
	}
}

func TestNoTerminal(t *testing.T) {
	if _, terminal := terminalWidth(&bytes.Buffer{}); terminal {
		t.Error("a buffer is taken for a terminal")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, terminal := terminalWidth(&screen{w: f}); terminal {
		t.Error("the null device is taken for a terminal")
	}
}
