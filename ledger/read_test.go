package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

func TestFindByEveryHandle(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	first := submit(t, l, "a")
	must(t)(l.Cancel(t.Context(), first.ID, "op", "x"))
	second := submit(t, l, "a")
	other := submit(t, l, "b")
	id := first.ID.String()
	for ref, want := range map[string]ledger.Run{
		id: first, first.Short(): first, id[24:]: first, id[20:]: first, "a/2026-09-28#1": first, "a/2026-09-28#2": second,
		"a/2026-09-28": second, "b/2026-09-28": other, "latest": other,
	} {
		if r, err := l.Find(t.Context(), ref); err != nil || r.ID != want.ID {
			t.Errorf("find %q: %s, %v, want %s", ref, r.Handle(), err, want.Handle())
		}
	}
	for ref, want := range map[string]error{
		"a/2026-09-29": ledger.ErrNoRun, "c/2026-09-28": ledger.ErrNoRun, "a/2026-09-28#9": ledger.ErrNoRun, "0000000000000000": ledger.ErrNoRun,
		"abc": ledger.ErrInvalid, "zzzz": ledger.ErrInvalid, "a/2026-09-28#x": ledger.ErrInvalid, "": ledger.ErrInvalid, "%%%%": ledger.ErrInvalid,
	} {
		if r, err := l.Find(t.Context(), ref); !errors.Is(err, want) {
			t.Errorf("find %q: %s, %v, want %v", ref, r.Handle(), err, want)
		}
	}
}

func TestFindThatIsAmbiguous(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	for _, job := range []string{"a", "b"} {
		req := request(t, job)
		copy(req.ID[12:], []byte{0xab, 0xcd, 0xef, 0x01})
		must(t)(l.Submit(t.Context(), req))
	}
	var many *ledger.AmbiguousError
	if _, err := l.Find(t.Context(), "ef01"); !errors.As(err, &many) || !errors.Is(err, ledger.ErrAmbiguous) || len(many.Runs) != 2 {
		t.Fatalf("find: %v, want two runs", err)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	a := submit(t, l, "a")
	must(t)(l.Cancel(t.Context(), a.ID, "op", "x"))
	submit(t, l, "a")
	submit(t, l, "b")
	for name, test := range map[string]struct {
		f    ledger.Filter
		want int
	}{
		"all":     {ledger.Filter{}, 3},
		"job":     {ledger.Filter{Job: "a"}, 2},
		"key":     {ledger.Filter{Key: "2026-01-01"}, 0},
		"active":  {ledger.Filter{Active: true}, 2},
		"states":  {ledger.Filter{States: []ledger.State{ledger.Cancelled, ledger.Success}}, 1},
		"limit":   {ledger.Filter{Limit: 1}, 1},
		"since":   {ledger.Filter{Since: time.Now().Add(time.Hour)}, 0},
		"for now": {ledger.Filter{Since: time.Now().Add(-time.Hour)}, 3},
	} {
		runs, err := l.List(t.Context(), test.f)
		if err != nil || len(runs) != test.want {
			t.Errorf("%s: %d runs, %v, want %d", name, len(runs), err, test.want)
		}
	}
	if runs, err := l.List(t.Context(), ledger.Filter{Limit: 1}); err != nil || runs[0].Job != "b" {
		t.Errorf("newest: %v, %v, want job b", runs, err)
	}
}

func TestNotesAndAlerts(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := submit(t, l, "a")
	check(t, l.Note(t.Context(), run.ID, "COLUMN_SKIPPED", "virtual column V", []byte(`{"column": "V"}`)))
	check(t, l.Alert(t.Context(), run.ID, "UNDO_SHORT", "undo is short", nil))
	es, err := l.Events(t.Context(), run.ID)
	check(t, err)
	if len(es) != 3 || es[0].To != ledger.Created || es[1].Kind != ledger.KindNote || string(es[1].Detail) != `{"column": "V"}` || es[2].Code != "UNDO_SHORT" || es[2].By != "test@here" {
		t.Fatalf("events %+v, want the submit, a note and an alert", es)
	}
}
