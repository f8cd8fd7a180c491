package publish_test

import (
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
)

func TestJudge(t *testing.T) {
	file := func(id uint64) publish.FileEvidence {
		return publish.FileEvidence{Path: "/t/000000_0", ID: id, Size: 10, ModTime: time.Unix(int64(id), 0)}
	}
	files := func(ids ...uint64) (out []publish.FileEvidence) {
		for _, id := range ids {
			f := file(id)
			f.Path += string(rune('a' + id))
			out = append(out, f)
		}
		return out
	}
	rows := func(n string) []extract.Metric { return []extract.Metric{{What: extract.Rows, Value: n}} }
	for _, c := range []struct {
		name string
		give publish.Case
		want publish.Verdict
	}{
		{"untouched", publish.Case{Before: publish.Evidence{Files: files(1, 2)}, Now: publish.Evidence{Files: files(1, 2), Rows: 7}, Staged: rows("5"), Target: rows("7")}, publish.NotApplied},
		{"untouched, and equal to what was staged", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(1), Rows: 5}, Staged: rows("5"), Target: rows("5")}, publish.NotApplied},
		{"untouched, but the table was altered", publish.Case{Before: publish.Evidence{Files: files(1), LastDDL: "1"}, Now: publish.Evidence{Files: files(1), LastDDL: "2", Rows: 5}, Staged: rows("5"), Target: rows("5")}, publish.NotApplied},
		{"nothing before, nothing staged, and the partition was made", publish.Case{Before: publish.Evidence{}, Now: publish.Evidence{LastDDL: "2"}, Staged: rows("0"), Target: rows("0")}, publish.Applied},
		{"replaced", publish.Case{Before: publish.Evidence{Files: files(1, 2)}, Now: publish.Evidence{Files: files(3), Rows: 5}, Staged: rows("5"), Target: rows("5")}, publish.Applied},
		{"first load", publish.Case{Now: publish.Evidence{Files: files(3), Rows: 5}, Staged: rows("5"), Target: rows("5")}, publish.Applied},
		{"same name, other file", publish.Case{Before: publish.Evidence{Files: []publish.FileEvidence{file(1)}}, Now: publish.Evidence{Files: []publish.FileEvidence{file(2)}, Rows: 5}, Staged: rows("5"), Target: rows("5")}, publish.Applied},
		{"old removed, nothing there", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Rows: 0}, Staged: rows("5"), Target: rows("0")}, publish.Damaged},
		{"zero rows staged, old removed", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Rows: 0}, Staged: rows("0"), Target: rows("0")}, publish.Applied},
		{"mixed", publish.Case{Before: publish.Evidence{Files: files(1, 2)}, Now: publish.Evidence{Files: files(2, 3), Rows: 9}, Staged: rows("5"), Target: rows("9")}, publish.Damaged},
		{"part of ours", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(3), Rows: 3}, Staged: rows("5"), Target: rows("3")}, publish.Damaged},
		{"somebody else's", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(4), Rows: 50}, Staged: rows("5"), Target: rows("50")}, publish.Conflict},
		{"somebody else's, of a run that was lost, with equal metrics", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(4), Rows: 5}, Staged: rows("5"), Target: rows("5"), Foreign: true}, publish.Conflict},
		{"a lost run's mark, but untouched", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(1), Rows: 7}, Staged: rows("5"), Target: rows("7"), Foreign: true}, publish.NotApplied},
		{"no metrics prove nothing", publish.Case{Before: publish.Evidence{Files: files(1)}, Now: publish.Evidence{Files: files(3), Rows: -1}}, publish.Conflict},
	} {
		got, why := c.give.Judge()
		if got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, why, c.want)
		}
	}
}
