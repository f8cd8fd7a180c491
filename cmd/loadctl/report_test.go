package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/cmd/internal/stop"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// TestEveryClassIsReported: whatever the class, the exit code and the word in brackets are its own, as text and as JSON.
func TestEveryClassIsReported(t *testing.T) {
	for _, c := range pipeline.Classes {
		var err error = &failure{err: pipeline.ErrRunFailed, code: c.Code} // as the ledger recorded it
		if len(c.Is) > 0 {
			err = fmt.Errorf("do a thing: %w", c.Is[0])
		}
		var text, doc bytes.Buffer
		a := testApp(t, io.Discard, &text)
		if code := a.exit(err); code != c.Exit || !strings.Contains(text.String(), "["+c.Code+"]") {
			t.Errorf("class %s exits with %d and says %q", c.Code, code, text.String())
		}
		for _, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
			if !strings.HasPrefix(line, "loadctl: ") {
				t.Errorf("class %s: line %q has no prefix", c.Code, line)
			}
		}
		a = testApp(t, io.Discard, &doc)
		a.output = "json"
		code := a.exit(err)
		var e exitError
		if err := json.Unmarshal(doc.Bytes(), &e); err != nil {
			t.Fatalf("class %s: %q: %v", c.Code, doc.String(), err)
		}
		if code != c.Exit || e.Code != c.Exit || e.Class != c.Code || e.Schema != Schema || e.MessageType != "exit_error" {
			t.Errorf("class %s is reported as %+v", c.Code, e)
		}
	}
}

// TestEndOfRun: a run that failed is exit 1 whatever made it fail; one whose outcome is unknown is exit 4.
func TestEndOfRun(t *testing.T) {
	id := uuid.MustParse("0192f3a1-0000-7000-8000-0000009f04c2")
	for _, c := range []struct {
		state ledger.State
		class string
		exit  int
		want  string
	}{
		{ledger.Success, "", 0, ""},
		{ledger.Skipped, "", 0, ""},
		{ledger.FailedExtract, "UNREACHABLE", 1, "UNREACHABLE"},
		{ledger.FailedSnapshotExpired, "SNAPSHOT_EXPIRED", 1, "SNAPSHOT_EXPIRED"},
		{ledger.FailedPublish, "no such class", 1, "RUN_FAILED"},
		{ledger.TimedOut, "", 1, "RUN_FAILED"},
		{ledger.PublishUnknown, "PUBLISH_UNKNOWN", 4, "PUBLISH_UNKNOWN"},
	} {
		err := ended(ledger.Run{ID: id, Job: "J", Key: "K", Number: 1, State: c.state, Class: c.class, Message: "because"})
		if err == nil {
			if c.exit != 0 {
				t.Errorf("%s is no error", c.state)
			}
			continue
		}
		e := describe(err)
		if e.Code != c.exit || e.Class != c.want || e.RunID != id.String() || !strings.Contains(e.Message, "because") {
			t.Errorf("%s with class %s is reported as %+v", c.state, c.class, e)
		}
	}
}

// busyWith: somebody works on every run.
func busyWith(ledger.Active) bool { return false }

func TestDuplicateNamesTheFirst(t *testing.T) {
	first := ledger.Active{ID: uuid.MustParse("0192f3a1-0000-7000-8000-0000007be13d"), Job: "J", Key: "K", Number: 1, State: ledger.PublishUnknown, Since: noon, By: "cron@host-a"}
	e := describe(duplicate(fmt.Errorf("submit: %w", &ledger.DuplicateError{First: first}), busyWith))
	want := "J/K already has an active run #1 (7be13d, PUBLISH_UNKNOWN since " + clockTime(noon) + ", cron@host-a)"
	if e.Message != want || e.Code != pipeline.ExitDuplicate || e.Class != "DUPLICATE_ACTIVE_RUN" || e.RunID != first.ID.String() {
		t.Errorf("duplicate is reported as %+v", e)
	}
	if !strings.Contains(e.Hint, "loadctl reconcile 7be13d") {
		t.Errorf("hint is %q", e.Hint)
	}
	first.State = ledger.Extracting
	e = describe(duplicate(&ledger.TargetBusyError{Target: "hive:t", First: first}, busyWith))
	if e.Code != pipeline.ExitDuplicate || e.Class != "TARGET_BUSY" || !strings.Contains(e.Hint, "loadctl wait 7be13d") {
		t.Errorf("busy target is reported as %+v", e)
	}
	e = describe(duplicate(&ledger.DuplicateError{First: first}, func(ledger.Active) bool { return true }))
	if !strings.Contains(e.Hint, "nobody works on it now: loadctl resume 7be13d") {
		t.Errorf("hint is %q", e.Hint)
	}
}

// TestStoppedProcessExits130 whatever it was doing.
func TestStoppedProcessExits130(t *testing.T) {
	for _, err := range []error{pipeline.ErrInterrupted, context.Canceled, errors.Join(errors.New("x"), context.Canceled), stop.ErrSignal} {
		if code := testApp(t, io.Discard, io.Discard).exit(err); code != pipeline.ExitInterrupted {
			t.Errorf("%v exits with %d, want %d", err, code, pipeline.ExitInterrupted)
		}
	}
}

// TestLogLeavesOutWhatTheCommandReports, and nothing else.
func TestLogLeavesOutWhatTheCommandReports(t *testing.T) {
	var b bytes.Buffer
	log := testApp(t, io.Discard, &b).logger().With("run", "r1")
	log.Info("planned")
	log.Error("run failed", "err", "x", "class", "QUERY")
	if b.Len() > 0 {
		t.Errorf("the log holds %q", b.String())
	}
	log.Warn("step will be tried again", "class", "UNREACHABLE")
	log.Error("something else")
	if got := b.String(); strings.Count(got, "\n") != 2 || strings.Count(got, "loadctl: ") != 2 || !strings.Contains(got, "run=r1") {
		t.Errorf("the log holds %q", got)
	}
	a := testApp(t, io.Discard, &b)
	a.logLevel = "debug"
	a.logger().Error("run failed", "class", "QUERY")
	if !strings.Contains(b.String(), "run failed") {
		t.Error("an error is left out although a level was asked for")
	}
}
