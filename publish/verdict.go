package publish

import (
	"fmt"

	"github.com/loadctl/loadctl/extract"
)

// Verdict is what the evidence says that a publish statement of unknown outcome did to its target.
type Verdict string

// The verdicts.
const (
	Applied    Verdict = "APPLIED"     // all of it
	NotApplied Verdict = "NOT_APPLIED" // nothing
	Damaged    Verdict = "DAMAGED"     // a part of it
	Conflict   Verdict = "CONFLICT"    // the target is neither what it was nor what was sent
	Undecided  Verdict = "UNDECIDED"   // nothing is proved
)

// Case is the evidence of one attempt, once it is fenced: nothing of it can change the target any more.
type Case struct {
	Before  Evidence         // E0, read before the attempt was armed
	Now     Evidence         // as the target looks, twice, publish.settle apart
	Staged  []extract.Metric // what was to be published
	Target  []extract.Metric // what the target measures, by the same expressions
	Foreign bool             // a mark tells of a publish on this target by a run that the ledger does not know
}

// Judge says what an INSERT OVERWRITE into external files did. The files tell whether the old ones are there, by their
// ids in the store, which no copy shares; the metrics tell whether the new rows are. Metrics do not say whose rows they
// are: where a publish that the ledger has lost may have written, only NOT_APPLIED can be proved. The reason is for people.
func (c Case) Judge() (Verdict, string) {
	kept, gone, added := c.compare()
	equal := len(extract.Compare(c.Staged, c.Target)) == 0
	switch {
	case gone == 0 && added == 0 && c.Before.Location == c.Now.Location && !(kept == 0 && equal && c.Before.LastDDL != c.Now.LastDDL):
		return NotApplied, fmt.Sprintf("the target's %d files are those that were there before the statement", kept)
	case c.Foreign:
		return Conflict, "a mark tells of a publish on this target by a run that the ledger does not know, so what the target holds may be its rows"
	case kept == 0 && equal:
		return Applied, fmt.Sprintf("none of the files from before is left, and the target's %d files measure what was staged", added)
	case kept > 0:
		return Damaged, fmt.Sprintf("%d of the files from before are gone, %d are left, %d are new", gone, kept, added)
	case c.Now.Rows >= 0 && c.Now.Rows < rows(c.Staged):
		return Damaged, fmt.Sprintf("the files from before are gone, and the target has %d of %d staged rows", c.Now.Rows, rows(c.Staged))
	default:
		return Conflict, "the files from before are gone, and what is there is not what was staged"
	}
}

// compare counts what became of the files from before.
func (c Case) compare() (kept, gone, added int) { return c.Before.Changes(c.Now) }

// Changes counts the files that are still there later, those that are gone, and those that are new. A file is the same
// only if path, id, size and time are.
func (e Evidence) Changes(later Evidence) (kept, gone, added int) {
	type key struct {
		path  string
		id    uint64
		size  int64
		mtime int64
	}
	keyOf := func(f FileEvidence) key { return key{f.Path, f.ID, f.Size, f.ModTime.UnixNano()} }
	before := make(map[key]bool, len(e.Files))
	for _, f := range e.Files {
		before[keyOf(f)] = true
	}
	for _, f := range later.Files {
		if before[keyOf(f)] {
			kept++
		} else {
			added++
		}
	}
	return kept, len(e.Files) - kept, added
}

// rows is the number of rows that metrics tell of, -1 if they do not.
func rows(ms []extract.Metric) int64 {
	for _, m := range ms {
		if m.What == extract.Rows {
			var n int64
			if _, err := fmt.Sscan(m.Value, &n); err == nil {
				return n
			}
		}
	}
	return -1
}
