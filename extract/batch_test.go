package extract

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestTruncateTakesBackACutRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows.Draw(t, "rows")
		keep := rapid.IntRange(0, len(rows)).Draw(t, "keep")
		b := batchOf(rows)
		// A row whose first columns have arrived and whose others have not.
		for c := range rapid.IntRange(0, len(b.Cols)).Draw(t, "cut") {
			appendValue(&b.Cols[c], value{text: "half"})
		}
		b.Truncate(keep)
		d := NewDigester(testColumns())
		d.Add(b)
		if want := digestOf(rows[:keep]); !d.Digest().Equal(want) {
			t.Fatalf("after Truncate(%d) the digest is %s, want %s", keep, d.Digest(), want)
		}
		for c := range b.Cols {
			if got := b.Cols[c].Len(); got != keep {
				t.Fatalf("column %d has %d values, want %d", c, got, keep)
			}
		}
	})
}

func TestKindIsAWordInJSON(t *testing.T) {
	in := Slice{ID: 3, Shape: Range, Column: "AT", Kind: Timestamp, From: "2026-09-28 00:00:00"}
	text, err := json.Marshal(in)
	const want = `{"id":3,"shape":"range","column":"AT","kind":"timestamp","from":"2026-09-28 00:00:00"}`
	if err != nil || string(text) != want {
		t.Fatalf("JSON = %s, %v; want %s", text, err, want)
	}
	var out Slice
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Fatalf("reads back as %+v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"kind":"decimol"}`), &out); err == nil {
		t.Fatal("an unknown kind was accepted")
	}
}
