package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// Schema is the version of the JSON that loadctl prints. Fields are only ever added.
const Schema = "loadctl/v1"

// failure is an error with what the class table cannot know of it. Empty fields are the table's.
type failure struct {
	err  error
	text string // instead of the error's own
	hint string
	run  string // id of the run it is about
	what string // what it means
	code string // class that the ledger recorded
	exit int
}

func (f *failure) Error() string {
	if f.text != "" {
		return f.text
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// withHint attaches what to do.
func withHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &failure{err: err, hint: hint}
}

// usage makes an ErrUsage.
func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", pipeline.ErrUsage, fmt.Sprintf(format, args...))
}

// configError makes every fault of the configuration one ErrUsage.
func configError(err error) error {
	var faults config.Faults
	if !errors.As(err, &faults) {
		return fmt.Errorf("%w: %w", pipeline.ErrUsage, err)
	}
	text := fmt.Sprintf("%s in the configuration; nothing was started\n%s", plural(len(faults), "fault"), faults)
	return &failure{err: fmt.Errorf("%w: %w", pipeline.ErrUsage, err), text: text, hint: "loadctl check looks at it again"}
}

// exitError is the JSON form of a fatal error, on stderr.
type exitError struct {
	Schema      string         `json:"schema"`
	MessageType string         `json:"message_type"`
	Code        int            `json:"code"`
	Class       string         `json:"class"`
	Message     string         `json:"message"`
	Meaning     string         `json:"meaning,omitempty"`
	Hint        string         `json:"hint,omitempty"`
	RunID       string         `json:"run_id,omitempty"`
	Faults      []config.Fault `json:"faults,omitempty"`
}

// exit reports an error, once, and returns the exit code that its class promises.
func (a *app) exit(err error) int {
	if err == nil {
		return pipeline.ExitOK
	}
	e := describe(err)
	if a.json() {
		writeLine(a.Err, e)
		return e.Code
	}
	lines := strings.Split(strings.TrimRight(e.Message, "\n"), "\n")
	a.line("error: %s   [%s]", lines[0], e.Class)
	for _, l := range lines[1:] {
		a.line("       %s", l)
	}
	if e.Meaning != "" {
		a.line("meaning: %s", e.Meaning)
	}
	if e.Hint != "" {
		a.line("hint: %s", e.Hint)
	}
	return e.Code
}

// describe finds class, exit code, meaning and hint of an error.
func describe(err error) exitError {
	c := pipeline.Classify(err)
	e := exitError{Schema: Schema, MessageType: "exit_error", Message: message(err)}
	var f *failure
	if errors.As(err, &f) {
		if recorded, ok := pipeline.ClassByCode(f.code); ok {
			c = recorded
		}
		e.RunID = f.run
	}
	e.Code, e.Class, e.Meaning, e.Hint = c.Exit, c.Code, c.Meaning, c.Hint
	if f != nil {
		e.Hint, e.Meaning = orElse(f.hint, e.Hint), orElse(f.what, e.Meaning)
		if f.exit != 0 {
			e.Code = f.exit
		}
	}
	if c.Code == "USAGE" {
		e.Meaning = "" // the message says it
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		e.Faults = faults
	}
	return e
}

// message is the error's text without the word that only marks its class.
func message(err error) string {
	mark := pipeline.ErrUsage.Error() + ": "
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], mark)
	}
	return strings.Join(lines, "\n")
}

// duplicate says which active run is in the way, and how to follow it, or what moves it when nobody works on it.
func duplicate(err error, alone func(ledger.Active) bool) error {
	var dup *ledger.DuplicateError
	var busy *ledger.TargetBusyError
	switch {
	case errors.As(err, &dup):
		f := dup.First
		text := fmt.Sprintf("%s/%s already has an active run #%d (%s, %s since %s, %s)", f.Job, f.Key, f.Number, short(f.ID), f.State, clockTime(f.Since), f.By)
		return &failure{err: err, text: text, run: f.ID.String(), hint: howToFollow(f, alone(f))}
	case errors.As(err, &busy):
		f := busy.First
		text := fmt.Sprintf("target %s is busy with run %s (%s, %s since %s, %s)", busy.Target, f.Handle(), short(f.ID), f.State, clockTime(f.Since), f.By)
		return &failure{err: err, text: text, run: f.ID.String(), hint: howToFollow(f, alone(f))}
	}
	return err
}

// alone says of an active run whether nobody works on it. What cannot be read is taken for worked on.
func (a *app) alone(ctx context.Context, l *ledger.Ledger) func(ledger.Active) bool {
	return func(f ledger.Active) bool {
		s, err := a.look(ctx, l, f.ID)
		return err == nil && !beingDone(s.run, s.partitions, s.at)
	}
}

func howToFollow(f ledger.Active, alone bool) string {
	switch {
	case f.State == ledger.PublishUnknown:
		return "it waits for a decision: loadctl reconcile " + short(f.ID)
	case alone:
		return fmt.Sprintf("nobody works on it now: loadctl resume %s drives it to its end    loadctl cancel %s ends it", short(f.ID), short(f.ID))
	}
	return fmt.Sprintf("follow it: loadctl wait %s --for verified    or help from here: loadctl resume %s", short(f.ID), short(f.ID))
}

// ended turns the end of a run that was driven or watched into the command's own error.
func ended(r ledger.Run) error {
	switch {
	case r.State == ledger.Success || r.State == ledger.Skipped:
		return nil
	case r.State == ledger.PublishUnknown:
		return &failure{err: pipeline.ErrPublishUnknown, text: runText(r), run: r.ID.String(),
			hint: "loadctl reconcile " + r.Short() + " finds out    new runs of this key wait until it is resolved"}
	case r.State.Active():
		return nil
	}
	return &failure{err: pipeline.ErrRunFailed, text: runText(r), run: r.ID.String(), code: r.Class, exit: pipeline.ExitFailed}
}

// runText is where a run stands and why, on one line.
func runText(r ledger.Run) string {
	verb := "ended"
	if r.State.Active() {
		verb = "is"
	}
	text := fmt.Sprintf("%s (%s) %s %s", r.Handle(), r.Short(), verb, r.State)
	if r.TargetOutcome != "" {
		text += ", target " + r.TargetOutcome
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// printJSON prints one document on stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeLine prints one JSON line. What cannot be printed to a closed pipe has no other reader.
func writeLine(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}

// stamp is a time in JSON: RFC 3339, UTC.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
