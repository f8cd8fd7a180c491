package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

// story drives a run through the ledger as the pipeline would, with made-up data and no other part: what the verbs that
// only read need to show.
type story struct {
	ledger *ledger.Ledger
	run    ledger.Run
	hold   ledger.Hold
	last   ledger.Claim
}

// storyRows are the rows of the three partitions; the second is empty.
var storyRows = []int64{60000, 0, 45000}

// storySums are the sums of AMOUNT by partition; they add up to 71853075.00.
var storySums = []string{"41853075.00", "", "30000000.00"}

// begin submits a run.
func begin(ctx context.Context, l *ledger.Ledger, job, key string, id uuid.UUID) (*story, error) {
	run, err := l.Submit(ctx, ledger.RunRequest{
		ID: id, Job: job, Key: key, TargetID: "files:/w/lake." + job + "/load_date=" + key, Source: "core", MaxSessions: 4,
		MaxAttempts: 3, AttemptRoot: "/" + job + "/.attempts/run_id=" + id.String(), Spec: json.RawMessage(`{}`), Digest: "d1",
		Timeout: 1e12, By: "cron@host-a",
	})
	return &story{ledger: l, run: run}, err
}

// chapters lead from one state to the next on the main path.
var chapters = []struct {
	to ledger.State
	do func(*story, context.Context) error
}{
	{ledger.Extracting, (*story).plan},
	{ledger.ExtractedValidated, (*story).extract},
	{ledger.StagingValidated, (*story).stage},
	{ledger.Publishing, (*story).arm},
	{ledger.Published, (*story).publish},
	{ledger.Success, (*story).verify},
}

// until goes on to a state; to one that is not on the main path, from the state that leads there.
func (s *story) until(ctx context.Context, to ledger.State) error {
	ends := map[ledger.State]struct {
		from ledger.State
		do   func(*story, context.Context) error
	}{
		ledger.FailedExtract:  {ledger.Extracting, (*story).failExtract},
		ledger.PublishUnknown: {ledger.Publishing, (*story).loseAnswer},
		ledger.FailedTarget:   {ledger.Published, (*story).differ},
	}
	if end, ok := ends[to]; ok {
		return errors.Join(s.until(ctx, end.from), end.do(s, ctx))
	}
	for _, c := range chapters {
		run, err := s.ledger.Run(ctx, s.run.ID)
		if err != nil {
			return err
		}
		if run.State == to {
			return nil
		}
		if next, ok := after(run.State); ok && next == c.to {
			if err := c.do(s, ctx); err != nil {
				return fmt.Errorf("go to %s: %w", c.to, err)
			}
		}
	}
	run, err := s.ledger.Run(ctx, s.run.ID)
	if err == nil && run.State != to {
		err = fmt.Errorf("the story came to %s, not to %s", run.State, to)
	}
	return err
}

func after(s ledger.State) (ledger.State, bool) {
	if s == ledger.Created {
		return chapters[0].to, true
	}
	for i, c := range chapters[:len(chapters)-1] {
		if c.to == s {
			return chapters[i+1].to, true
		}
	}
	return "", false
}

// own takes the step that the run calls for.
func (s *story) own(ctx context.Context, kind ledger.Dispatch) error {
	due, err := s.ledger.DueSteps(ctx, ledger.DueRequest{Run: s.run.ID, Limit: 1})
	if err != nil || len(due) == 0 || due[0].Kind != kind {
		return fmt.Errorf("due steps are %v, want %s: %w", due, kind, err)
	}
	own, err := s.ledger.OwnStep(ctx, ledger.OwnRequest{Dispatch: due[0].ID, Token: ledger.NewToken(), Owner: "worker@host-a", Lease: 1e11})
	if err == nil && !own.Owned {
		err = fmt.Errorf("step %s is not ours: %s", kind, own.Why)
	}
	s.hold = own.Hold
	return err
}

func (s *story) plan(ctx context.Context) error {
	if err := s.own(ctx, ledger.Plan); err != nil {
		return err
	}
	m := ledger.Manifest{
		Hold: s.hold, SCN: "8839204410", Identity: json.RawMessage(`{"dbid":"1"}`), Strategy: "range", Total: 105000,
		Detail:  json.RawMessage(`{"snapshot":{"scn":"8839204410","time":"2026-09-29T03:20:07+09:00"}}`),
		Metrics: metricsOf("105000", "71853075.00"),
	}
	for i, rows := range storyRows {
		display := []string{"below 60001", "[60001, 75001)", "from 75001"}[i]
		m.Slices = append(m.Slices, ledger.Slice{
			Index: i, Spec: json.RawMessage(fmt.Sprintf(`{"id":%d}`, i)), Display: display, Expected: rows, Metrics: metricsOf(fmt.Sprint(rows), storySums[i]),
		})
	}
	_, err := s.ledger.RegisterManifest(ctx, m)
	return err
}

// metricsOf are rows and the sum of AMOUNT, "" standing for NULL.
func metricsOf(rows, sum string) []ledger.Metric {
	m := []ledger.Metric{ledger.Value("", "rows", rows), ledger.Value("AMOUNT", "nonnull", rows), {Column: "AMOUNT", Name: "sum"}}
	if sum != "" {
		m[2].Value = &sum
	}
	return m
}

func (s *story) claim(ctx context.Context) error {
	claim, ok, err := s.ledger.ClaimPartition(ctx, ledger.ClaimRequest{Run: s.run.ID, Token: ledger.NewToken(), Worker: "worker@host-b", Lease: 1e11})
	if err == nil && !ok {
		err = errors.New("no partition to claim")
	}
	s.last = claim
	return err
}

func (s *story) extract(ctx context.Context) error {
	for range 2 {
		if err := s.claim(ctx); err != nil {
			return err
		}
		c := s.last
		file := ledger.File{Index: 0, Path: fmt.Sprintf("%s/part-%d-0.parquet", c.Dir, c.Partition), Rows: c.Expected, Bytes: 2_000_000, Digest: "ab12"}
		if err := s.ledger.ReportChunk(ctx, c.Held, file); err != nil {
			return err
		}
		report := ledger.FinishReport{Chunks: 1, Rows: c.Expected, Metrics: metricsOf(fmt.Sprint(c.Expected), storySums[c.Partition])}
		if _, err := s.ledger.FinishPartition(ctx, c.Held, report); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) failExtract(ctx context.Context) error {
	if err := s.claim(ctx); err != nil {
		return err
	}
	_, err := s.ledger.FailPartition(ctx, s.last.Held, ledger.Failure{
		Event: ledger.EventExtractFailed, Class: "SHORT_STREAM", Message: "stream ended early: p0 has 41 of 60000 rows",
	})
	return err
}

func (s *story) stage(ctx context.Context) error {
	if err := s.own(ctx, ledger.ValidateStage); err != nil {
		return err
	}
	if err := s.ledger.Sealed(ctx, s.hold, "/"+s.run.Job+"/run_id="+s.run.ID.String()); err != nil {
		return err
	}
	for _, stage := range []ledger.Stage{ledger.StageStream, ledger.StageStaging} {
		if _, err := s.ledger.RecordMetrics(ctx, s.hold, stage, metricsOf("105000", "71853075.00")); err != nil {
			return err
		}
	}
	_, err := s.ledger.StagingValidated(ctx, s.hold, nil)
	return err
}

func (s *story) arm(ctx context.Context) error {
	if err := s.own(ctx, ledger.Publish); err != nil {
		return err
	}
	any := json.RawMessage(`{}`)
	return s.ledger.Arm(ctx, s.hold, ledger.Arming{Evidence: any, Session: any, Instance: "host-h:10000", Tag: "loadctl-tag"})
}

func (s *story) publish(ctx context.Context) error {
	rows := int64(105000)
	_, err := s.ledger.PublishResult(ctx, s.hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &rows})
	return err
}

func (s *story) loseAnswer(ctx context.Context) error {
	_, err := s.ledger.PublishResult(ctx, s.hold, ledger.Result{
		Event: ledger.EventPublishUnknown, Class: "PUBLISH_UNKNOWN", Message: "HiveServer2 closed the connection after submit",
	})
	return err
}

func (s *story) verify(ctx context.Context) error { return s.compareTarget(ctx, "71853075.00") }

// differ ends the run with a target whose sum is another.
func (s *story) differ(ctx context.Context) error {
	err := s.compareTarget(ctx, "71853074.00")
	var mismatch *ledger.MismatchError
	if errors.As(err, &mismatch) {
		return nil
	}
	return fmt.Errorf("a target that differs was accepted: %w", err)
}

func (s *story) compareTarget(ctx context.Context, sum string) error {
	if err := s.own(ctx, ledger.ValidateTarget); err != nil {
		return err
	}
	if _, err := s.ledger.RecordMetrics(ctx, s.hold, ledger.StageTarget, metricsOf("105000", sum)); err != nil {
		return err
	}
	_, err := s.ledger.Verified(ctx, s.hold, nil)
	return err
}

// id is for messages of the tests.
func (s *story) id() uuid.UUID { return s.run.ID }
