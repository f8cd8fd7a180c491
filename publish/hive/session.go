package hive

import (
	"context"
	"fmt"
	"time"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
)

// session is a publish.Session: one HiveServer2 session for one statement.
type session struct {
	s   *hs2.Session
	tag string
}

// Handle implements publish.Session.
func (x *session) Handle() publish.Handle {
	return publish.Handle{Instance: x.s.Instance(), Session: x.s.Handle().Text()}
}

// Close implements publish.Session.
func (x *session) Close(ctx context.Context) error {
	return wrap("close the publishing session", x.s.Close(ctx))
}

// Publish sends the statement, once. Before it: a look at the target, whose columns, types and order it must
// still have; what goes wrong there is ErrRefused, because nothing was sent. After it: only the compiler's own
// refusal is ErrRefused. A lost answer, a failure while running, a cancel: ErrUnknown, also where Hive
// most likely has left the target alone.
func (x *session) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
	op := fmt.Sprintf("publish to %s.%s%s", p.Target.Database, p.Target.Table, partitionSpec(p.Target.Partition))
	ctx = publish.WithTag(ctx, x.tag)
	statement, err := x.statement(ctx, p)
	if err != nil {
		return publish.Result{}, fmt.Errorf("%s: %w: nothing was sent: %w", op, publish.ErrRefused, err)
	}
	began := time.Now()
	o, err := x.s.Execute(ctx, statement, overlay(x.tag))
	if provesUnchanged(err) {
		return publish.Result{}, fmt.Errorf("%s: %w: %w", op, publish.ErrRefused, err)
	}
	if err != nil {
		return publish.Result{}, fmt.Errorf("%s: %w: %w", op, publish.ErrUnknown, err)
	}
	result, err := x.follow(ctx, o, report)
	result.Elapsed = time.Since(began)
	if err != nil {
		return result, fmt.Errorf("%s: query %q: %w: %w", op, result.QueryID, publish.ErrUnknown, err)
	}
	o.Close(ctx) // the statement has ended and is confirmed; the session, closed next, takes the operation with it
	return result, nil
}

// statement looks at the target and writes INSERT for the order that its columns have now.
func (x *session) statement(ctx context.Context, p publish.Publication) (string, error) {
	if err := checkColumns(p.Target.Columns, p.Target.Partition); err != nil {
		return "", err
	}
	rows, err := run(ctx, x.s, describeTable(p.Target.Database, p.Target.Table))
	if err != nil {
		return "", wrap("look at the target", err)
	}
	d, err := parseDescription(rows)
	if err != nil {
		return "", err
	}
	if err := publish.SchemaError(p.Target.Database, p.Target.Table, d.differences(p.Target)); err != nil {
		return "", err
	}
	return insertOverwrite(p, d.order()), nil
}

// follow reports the operation before it waits for it, so that its handle is on record whatever comes.
func (x *session) follow(ctx context.Context, o *hs2.Operation, report func(publish.Progress)) (publish.Result, error) {
	result := publish.Result{Rows: -1}
	progress := publish.Progress{Operation: o.Handle().Text(), Fraction: -1}
	report(progress)
	id, _ := o.QueryID(ctx) // an old server has none to tell; a lost connection shows in Wait
	result.QueryID, progress.QueryID = id, id
	st, err := o.Wait(ctx, func(st hs2.Status) {
		progress.Fraction, progress.Text = st.Fraction, st.Text
		report(progress)
	})
	if err == nil {
		result.Rows = st.Modified
	}
	return result, err
}
