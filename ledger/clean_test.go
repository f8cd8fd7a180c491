package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

func TestCleanableIsWhatEndedLongAgo(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	keep := ledger.Retention{Success: 3 * 24 * time.Hour, Failed: 14 * 24 * time.Hour}
	ended := map[string]ledger.Run{"ok, old": verified(t, l, "a"), "ok, young": verified(t, l, "b")}
	for _, job := range []string{"failed, old", "failed, young"} {
		r := staged(t, l, job)
		ended[job] = must(t)(l.Cancel(t.Context(), r.ID, "op", "x"))
	}
	hold := fenced(t, l, "damaged")
	judge(t, l, hold, ledger.Damaged)
	ended["damaged"] = must(t)(l.Resolve(t.Context(), hold, word(ledger.AsFailed)))
	ended["active"], ended["unknown"] = staged(t, l, "c"), must(t)(l.Run(t.Context(), unknown(t, l, "d").Run))
	for name, age := range map[string]string{"ok, old": "73 h", "ok, young": "71 h", "failed, old": "337 h", "failed, young": "335 h", "damaged": "9999 h", "active": "9999 h", "unknown": "9999 h"} {
		change(t, db, "UPDATE loadctl.load_run SET state_since = clock_timestamp() - $2::text::interval WHERE id = $1", ended[name].ID, age)
	}
	list := func() map[uuid.UUID]bool {
		runs, err := l.Cleanable(t.Context(), keep, 100)
		check(t, err)
		ids := map[uuid.UUID]bool{}
		for _, r := range runs {
			ids[r.ID] = true
		}
		return ids
	}
	if got := list(); len(got) != 2 || !got[ended["ok, old"].ID] || !got[ended["failed, old"].ID] {
		t.Fatalf("cleanable %v, want the old ones", got)
	}
	for range 2 { // a repeat changes nothing
		check(t, l.Cleaned(t.Context(), ended["ok, old"].ID, json.RawMessage(`{"files": 2}`)))
	}
	if got := list(); len(got) != 1 {
		t.Fatalf("cleanable %v, want one left", got)
	}
	if r := must(t)(l.Run(t.Context(), ended["ok, old"].ID)); r.CleanedAt == nil {
		t.Fatal("not recorded as cleaned")
	}
	for _, name := range []string{"damaged", "active", "unknown"} {
		if err := l.Cleaned(t.Context(), ended[name].ID, nil); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("cleaned a run that is %s: %v, want ErrStale", name, err)
		}
	}
	otherTimeline(t, db)
	if _, err := l.Cleanable(t.Context(), keep, 100); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("cleanable on a timeline not compared: %v, want ErrTimeline", err)
	}
	if err := l.Cleaned(t.Context(), ended["failed, old"].ID, nil); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("cleaned on a timeline not compared: %v, want ErrTimeline", err)
	}
}
