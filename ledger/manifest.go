package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Hold names a step of a run that the caller owns.
type Hold struct {
	Run   uuid.UUID
	Token uuid.UUID // of the step
}

// Slice is one partition of a manifest.
type Slice struct {
	Index    int
	Spec     json.RawMessage // what the source needs to read it
	Display  string          // for people
	Null     bool            // holds the rows whose split column is NULL
	Expected int64           // rows at the SCN
	Metrics  []Metric        // measured by the source at the SCN
}

// Manifest is the plan of a run.
type Manifest struct {
	Hold                     // of the PLAN step
	SCN      string          // decimal digits
	Identity json.RawMessage // who the source is; compared in every later session
	Strategy string
	Detail   json.RawMessage // how the split was chosen, for people
	Total    int64           // rows of the table at the SCN, counted apart from the slices
	Nullable bool            // the split column can be NULL, so a slice for NULLs must be there
	Empty    bool            // a plan of 0 rows is allowed
	Slices   []Slice
	Metrics  []Metric // of the whole table, by the source
}

// Reasons of a ManifestError.
const (
	ReasonEmptyRefused  = "EMPTY_REFUSED"
	ReasonNoSlices      = "NO_PARTITIONS"
	ReasonIndex         = "PARTITION_IDS"
	ReasonDuplicate     = "DUPLICATE_PARTITION"
	ReasonNullSlice     = "NULL_SLICE"
	ReasonNegativeCount = "NEGATIVE_COUNT"
	ReasonSum           = "COUNT_SUM"
)

var digits = regexp.MustCompile(`^[1-9][0-9]{0,37}$`)

// broken returns the first invariant that the manifest breaks: reason and detail, empty if it holds.
func (m Manifest) broken() (reason, detail string) {
	if len(m.Slices) == 0 {
		return ReasonNoSlices, "the plan has no partition"
	}
	if reason, detail := m.brokenIDs(); reason != "" {
		return reason, detail
	}
	var sum int64
	nulls := 0
	for _, s := range m.Slices {
		if s.Expected < 0 {
			return ReasonNegativeCount, fmt.Sprintf("partition %d expects %d rows", s.Index, s.Expected)
		}
		if s.Null {
			nulls++
		}
		sum += s.Expected
	}
	switch {
	case m.Nullable && nulls != 1:
		return ReasonNullSlice, fmt.Sprintf("the split column can be NULL and %d partitions hold its NULLs, want 1", nulls)
	case nulls > 1:
		return ReasonNullSlice, fmt.Sprintf("%d partitions hold the NULLs of the split column, want 1 at most", nulls)
	case sum != m.Total:
		return ReasonSum, fmt.Sprintf("partitions add up to %d rows, the table has %d at the SCN", sum, m.Total)
	case m.Total == 0 && !m.Empty:
		return ReasonEmptyRefused, "the table has 0 rows for this key and the job does not allow an empty load"
	}
	return "", ""
}

// brokenIDs checks that the indexes are 0..n-1, each once, and that no two partitions are the same slice.
func (m Manifest) brokenIDs() (reason, detail string) {
	seen := make(map[int]bool, len(m.Slices))
	specs := make(map[string]int, len(m.Slices))
	for _, s := range m.Slices {
		if s.Index < 0 || s.Index >= len(m.Slices) || seen[s.Index] {
			return ReasonIndex, fmt.Sprintf("partition id %d: want 0..%d, each once", s.Index, len(m.Slices)-1)
		}
		seen[s.Index] = true
		if other, ok := specs[string(s.Spec)]; ok {
			return ReasonDuplicate, fmt.Sprintf("partitions %d and %d are the same slice", other, s.Index)
		}
		specs[string(s.Spec)] = s.Index
	}
	return "", ""
}

// check refuses what is a mistake of the caller rather than of the plan.
func (m Manifest) check() error {
	switch {
	case !digits.MatchString(m.SCN):
		return invalid("register manifest: SCN %q is not a positive number of at most 38 digits", m.SCN)
	case !json.Valid(m.Identity) || m.Strategy == "":
		return invalid("register manifest: identity of the source and strategy are required")
	}
	for _, s := range m.Slices {
		if !json.Valid(s.Spec) {
			return invalid("register manifest: spec of partition %d is not JSON", s.Index)
		}
	}
	return nil
}

// RegisterManifest records the plan and moves CREATED to EXTRACTING, or, if every partition is empty and that is
// allowed, to EXTRACTED_VALIDATED. Partitions of 0 rows are SUCCESS at once. It guards the manifest's invariants: one
// that breaks any makes the run FAILED_MANIFEST, committed, and is then returned as *ManifestError. A repeat under the
// same token is answered as recorded.
func (l *Ledger) RegisterManifest(ctx context.Context, m Manifest) (Run, error) {
	if err := m.check(); err != nil {
		return Run{}, err
	}
	var verdict *ManifestError
	err := l.decide(ctx, func(tx pgx.Tx) error {
		verdict = nil
		run, err := lock(ctx, tx, m.Run)
		if err != nil {
			return err
		}
		h, done, err := repeated(ctx, tx, m.Run, m.Token, EventPlan, EventPlanEmpty, EventManifestBroken)
		if err != nil {
			return err
		}
		if done {
			verdict = manifestVerdict(m.Run, h)
			return nil
		}
		if run.State != Created || !run.holds(m.Token) {
			return run.stale("the plan is not this token's to register")
		}
		reason, detail := m.broken()
		if reason != "" {
			verdict = &ManifestError{Run: m.Run, Reason: reason, Detail: detail}
			_, err := l.advance(ctx, tx, run, move{event: EventManifestBroken, token: m.Token, class: reason, message: detail})
			return err
		}
		return l.register(ctx, tx, run, m)
	})
	if err != nil {
		return Run{}, fmt.Errorf("register manifest: %w", err)
	}
	if verdict != nil {
		return Run{}, verdict
	}
	return l.Run(ctx, m.Run)
}

// manifestVerdict rebuilds the answer that was given when h was recorded.
func manifestVerdict(run uuid.UUID, h history) *ManifestError {
	if h.Event != EventManifestBroken {
		return nil
	}
	return &ManifestError{Run: run, Reason: h.Class, Detail: h.Message}
}

// register writes the plan, the partitions, the source's metrics and the slots of the source, then moves the run.
func (l *Ledger) register(ctx context.Context, tx pgx.Tx, run locked, m Manifest) error {
	err := execOne(ctx, tx, "run_plan", args{"run": m.Run, "scn": m.SCN, "identity": string(m.Identity), "strategy": m.Strategy,
		"detail": nullJSON(m.Detail), "total": m.Total})
	if err != nil {
		return err
	}
	if err := registerSlices(ctx, tx, m); err != nil {
		return err
	}
	if err := ensureSlots(ctx, tx, run.Source, run.MaxSessions); err != nil {
		return err
	}
	event := EventPlan
	if m.Total == 0 {
		event = EventPlanEmpty
	}
	detail, err := json.Marshal(map[string]any{"scn": m.SCN, "strategy": m.Strategy, "partitions": len(m.Slices), "rows": m.Total})
	if err != nil {
		return err
	}
	_, err = l.advance(ctx, tx, run, move{event: event, token: m.Token, detail: detail})
	return err
}

// registerSlices writes the partitions and what the source measured of each and of the whole.
func registerSlices(ctx context.Context, tx pgx.Tx, m Manifest) error {
	for _, s := range m.Slices {
		_, err := exec(ctx, tx, "partition_insert", args{"run": m.Run, "idx": s.Index, "spec": string(s.Spec), "display": s.Display,
			"null_slice": s.Null, "expected": s.Expected})
		if err != nil {
			return err
		}
		if err := record(ctx, tx, m.Run, StageSource, m.Token, s.Index, s.Metrics); err != nil {
			return err
		}
	}
	return record(ctx, tx, m.Run, StageSource, m.Token, wholeRun, m.Metrics)
}
