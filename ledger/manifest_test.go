package ledger_test

import (
	"errors"
	"testing"

	"github.com/loadctl/loadctl/ledger"
)

func TestBrokenManifestIsRecordedThenReported(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	for reason, spoil := range map[string]func(*ledger.Manifest){
		ledger.ReasonNoSlices:      func(m *ledger.Manifest) { m.Slices = nil },
		ledger.ReasonIndex:         func(m *ledger.Manifest) { m.Slices[1].Index = 2 },
		ledger.ReasonIndex + " 2":  func(m *ledger.Manifest) { m.Slices[1].Index = 0 },
		ledger.ReasonDuplicate:     func(m *ledger.Manifest) { m.Slices[1].Spec = m.Slices[0].Spec },
		ledger.ReasonNullSlice:     func(m *ledger.Manifest) { m.Nullable = true },
		ledger.ReasonNegativeCount: func(m *ledger.Manifest) { m.Slices[1].Expected = -1 },
		ledger.ReasonSum:           func(m *ledger.Manifest) { m.Total++ },
		ledger.ReasonEmptyRefused:  func(m *ledger.Manifest) { m.Slices[0].Expected, m.Slices[1].Expected, m.Total = 0, 0, 0 },
	} {
		t.Run(reason, func(t *testing.T) {
			run := submit(t, l, reason)
			m := manifest(own(t, l, run.ID, ledger.Plan).Hold, 1, 2)
			spoil(&m)
			for range 2 { // a repeat is answered as recorded
				_, err := l.RegisterManifest(t.Context(), m)
				var broken *ledger.ManifestError
				if !errors.As(err, &broken) || !errors.Is(err, ledger.ErrManifest) || broken.Reason != reason[:len(broken.Reason)] || broken.Detail == "" {
					t.Fatalf("register: %v, want %s", err, reason)
				}
			}
			r := must(t)(l.Run(t.Context(), run.ID))
			if r.State != ledger.FailedManifest || r.Class != reason[:len(r.Class)] {
				t.Fatalf("run is %s [%s], want FAILED_MANIFEST", r.State, r.Class)
			}
			if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_partition WHERE run_id = $1", run.ID); n != 0 {
				t.Fatalf("%d partitions, want none of a plan that was refused", n)
			}
		})
	}
}

func TestEmptyManifestIsExtractedAtOnce(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := submit(t, l, "j")
	m := manifest(own(t, l, run.ID, ledger.Plan).Hold, 0, 0)
	m.Empty = true
	r := must(t)(l.RegisterManifest(t.Context(), m))
	if r.State != ledger.ExtractedValidated || r.PartitionsDone != 2 || r.Seq != 1 {
		t.Fatalf("run %+v, want EXTRACTED_VALIDATED with 2 partitions done", r)
	}
	own(t, l, run.ID, ledger.ValidateStage)
	ladder, err := l.Ladder(t.Context(), run.ID)
	if err != nil || len(ladder) != 3 || ladder[2].Boundary != ledger.Extracted {
		t.Fatalf("ladder %v, %v, want accepted, planned, extracted", ladder, err)
	}
}

func TestManifestKeepsSCNToTheLastDigit(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := submit(t, l, "j")
	m := manifest(own(t, l, run.ID, ledger.Plan).Hold, 3)
	for _, bad := range []string{"", "0", "-1", "1.5", "1e9", "123456789012345678901234567890123456789"} {
		m.SCN = bad
		if _, err := l.RegisterManifest(t.Context(), m); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("SCN %q: %v, want ErrInvalid", bad, err)
		}
	}
	m.SCN = "12345678901234567890123456789012345678"
	if r := must(t)(l.RegisterManifest(t.Context(), m)); r.SCN != m.SCN {
		t.Fatalf("SCN %s, want %s", r.SCN, m.SCN)
	}
	if r := must(t)(l.RegisterManifest(t.Context(), m)); r.Seq != 1 {
		t.Fatalf("a repeat moved the run to %d", r.Seq)
	}
}

func TestNullSliceIsOne(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := submit(t, l, "j")
	m := manifest(own(t, l, run.ID, ledger.Plan).Hold, 3, 0)
	m.Nullable, m.Slices[1].Null = true, true
	must(t)(l.RegisterManifest(t.Context(), m))
	ps, err := l.Partitions(t.Context(), run.ID)
	check(t, err)
	if len(ps) != 2 || ps[0].Null || !ps[1].Null || ps[1].State != ledger.PartitionSuccess || ps[0].State != ledger.PartitionPending || *ps[0].Expected != 3 {
		t.Fatalf("partitions %+v, want one pending and the empty NULL slice done", ps)
	}
}
