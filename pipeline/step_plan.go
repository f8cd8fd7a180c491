package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
)

// Options is what the caller of a run asked for beyond its job.
type Options struct {
	SCN string `json:"scn,omitempty"` // read at this SCN instead of the present one
}

// plan fixes the snapshot and registers the manifest.
//
// Before: the run is CREATED. After: EXTRACTING with its partitions, EXTRACTED_VALIDATED if there is nothing to read
// and the job allows that, or FAILED_MANIFEST. In order: look at everything (no effect anywhere; dying here means that
// the next owner looks again, at a later SCN); make the target table if it is missing (made already is success);
// register (one transaction).
func (w *work) plan(ctx context.Context) error {
	run := w.own.Run
	job, err := ParseJob(run.Spec)
	if err != nil {
		return err
	}
	var opt Options
	if err := json.Unmarshal(run.Options, &opt); err != nil {
		return fmt.Errorf("read the run's options: %w", err)
	}
	p, err := w.MakePlan(ctx, job, run.ID.String(), opt.SCN)
	if err != nil {
		return err
	}
	if p.Manifest.Rows == 0 && !job.AllowEmpty {
		return fmt.Errorf("%w: %s has none for %s as of SCN %s", ErrEmpty, tableText(p.Query.Table.Name), job.Key, p.Snapshot.SCN)
	}
	if p.Create {
		if err := w.Warehouse.Create(ctx, p.Target); err != nil {
			return err
		}
		w.log.Info("target made", "table", p.Target.Database+"."+p.Target.Table)
	}
	return w.retryLedger(ctx, func() error {
		next, err := w.Ledger.RegisterManifest(ctx, p.register(w.hold(), job.AllowEmpty))
		if err == nil {
			w.log.Info("planned", "scn", p.Snapshot.SCN, "partitions", len(p.Manifest.Slices), "rows", p.Manifest.Rows, "state", next.State)
		}
		return err
	})
}

// register is the plan in the ledger's words.
func (p *Plan) register(hold ledger.Hold, allowEmpty bool) ledger.Manifest {
	m := ledger.Manifest{
		Hold: hold, SCN: p.Snapshot.SCN, Identity: asJSON(p.Identities), Strategy: p.Strategy, Detail: asJSON(p.Spec),
		Total: p.Manifest.Rows, Empty: allowEmpty, Metrics: toLedger(p.Manifest.Total),
	}
	for _, s := range p.Manifest.Slices {
		null := s.Slice.Shape == extract.IsNull
		m.Slices = append(m.Slices, ledger.Slice{
			Index: s.Slice.ID, Spec: asJSON(s.Slice), Display: Display(s.Slice), Null: null, Expected: s.Rows, Metrics: toLedger(s.Metrics),
		})
	}
	if column, ok := p.Query.Table.Column(p.splitColumn()); ok {
		m.Nullable = column.Nullable
	}
	return m
}

// splitColumn is the column that the slices are bounded by, "" if there is none.
func (p *Plan) splitColumn() string {
	if len(p.Manifest.Slices) == 0 {
		return ""
	}
	return p.Manifest.Slices[0].Slice.Column
}

// Display names a slice for people: "[1, 15001)".
func Display(s extract.Slice) string {
	switch s.Shape {
	case extract.Whole:
		return "all rows"
	case extract.IsNull:
		return s.Column + " is null"
	}
	switch {
	case s.From == "" && s.Below == "":
		return "all values"
	case s.From == "":
		return "below " + s.Below
	case s.Below == "":
		return "from " + s.From
	}
	return "[" + s.From + ", " + s.Below + ")"
}
