package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
)

// Held compares what a run left in its target with what is there now.
type Held struct {
	Run       ledger.Run
	Target    publish.Target
	Published publish.Evidence // E1, right after the publish
	Now       publish.Evidence
	Kept      int // files that are those of E1
	Gone      int // files of E1 that are not there
	Added     int // files that E1 does not have
}

// Holds says whether the target still is what was published. A statement that changed only the table's properties, which
// moves its time of change, takes nothing from that.
func (h Held) Holds() bool {
	return h.Gone == 0 && h.Added == 0 && h.Published.Location == h.Now.Location
}

// Verify looks at the target of a run that was published, and changes nothing. ErrNoEvidence when its publish recorded
// nothing to compare with.
func (e *Env) Verify(ctx context.Context, id uuid.UUID) (Held, error) {
	f, err := e.thaw(ctx, id)
	if err != nil {
		return Held{}, err
	}
	h := Held{Run: f.run, Target: f.Target}
	if err := e.check(ctx, f.Identities); err != nil {
		return h, err
	}
	attempts, err := e.Ledger.Attempts(ctx, id)
	if err != nil {
		return h, err
	}
	if h.Published, err = evidenceAfter(attempts); err != nil {
		return h, fmt.Errorf("verify %s: %w", f.run.Handle(), err)
	}
	if h.Now, err = e.Warehouse.Observe(ctx, f.Target); err != nil {
		return h, err
	}
	h.Kept, h.Gone, h.Added = h.Published.Changes(h.Now)
	return h, nil
}

// evidenceAfter is E1 of the attempt that published: told with its result, or seen by the reconciliation that found it
// applied.
func evidenceAfter(attempts []ledger.Attempt) (publish.Evidence, error) {
	for _, a := range slices.Backward(attempts) {
		var seen publish.Evidence
		switch {
		case len(a.After) > 0 && string(a.After) != "null":
			err := json.Unmarshal(a.After, &seen)
			return seen, err
		case a.Verdict == ledger.Applied:
			judged := struct{ Now *publish.Evidence }{&seen}
			err := json.Unmarshal(a.JudgedBy, &judged)
			return seen, err
		}
	}
	return publish.Evidence{}, ErrNoEvidence
}
