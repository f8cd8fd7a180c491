package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// makeRunning writes n runs that wait for the finish reports of their two partitions. In SQL, because a thousand of
// them the long way would take a minute.
func makeRunning(t *testing.T, db ledgertest.Database, n int) {
	t.Helper()
	change(t, db, fmt.Sprintf(`
WITH id AS (SELECT g, (lpad(to_hex(g), 8, '0') || '-0000-7000-8000-000000000000')::uuid AS run FROM generate_series(1, %d) g),
 r AS (INSERT INTO loadctl.load_run (id, job, business_key, number, target_id, source, max_sessions, max_attempts, attempt_root, job_spec,
         job_digest, options, created_by, run_timeout, seq, state, active, scn, source_identity, strategy, expected_rows)
       SELECT run, 'j' || g, 'k', 1, 't' || g, 's', 2, 3, 'root', '{}', 'd', '{}', 'test', '1 h', 1, 'EXTRACTING', true, 1, '{}', 'x', 3 FROM id),
 h AS (INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by, closed)
       SELECT run, 0, '', 'submit', 'CREATED', 'test', true FROM id
       UNION ALL SELECT run, 1, 'CREATED', 'plan', 'EXTRACTING', 'test', false FROM id),
 p AS (INSERT INTO loadctl.load_partition (run_id, idx, spec, display, expected_rows, state, attempts, token, worker, claimed_at, heartbeat_at, lease_until)
       SELECT run, i, '{}', 'p', i + 1, 'RUNNING', 1, (left(run::text, 8) || '-0000-4000-8000-00000000000' || i)::uuid, 'w', now(), now(), now() + interval '1 h'
         FROM id, generate_series(0, 1) i)
INSERT INTO loadctl.load_file (run_id, partition, token, idx, path, rows, bytes, digest)
SELECT run, i, (left(run::text, 8) || '-0000-4000-8000-00000000000' || i)::uuid, 0, 'root/' || g || '-' || i, i + 1, 1, 'x'
  FROM id, generate_series(0, 1) i`, n))
}

// running is attempt p of run g as makeRunning wrote it.
func running(g, p int) ledger.Held {
	return ledger.Held{Run: uuid.MustParse(fmt.Sprintf("%08x-0000-7000-8000-000000000000", g)), Partition: p,
		Token: uuid.MustParse(fmt.Sprintf("%08x-0000-4000-8000-00000000000%d", g, p))}
}

func TestLastTwoReportsAtOnce(t *testing.T) {
	t.Parallel()
	const runs, abreast = 1000, 8
	l, db := open(t)
	makeRunning(t, db, runs)
	next := make(chan int)
	go func() {
		defer close(next)
		for g := 1; g <= runs; g++ {
			next <- g
		}
	}()
	var wg sync.WaitGroup
	for range abreast {
		wg.Go(func() {
			for g := range next {
				errs := together(2, func(p int) error {
					_, err := l.FinishPartition(t.Context(), running(g, p), ledger.FinishReport{Chunks: 1, Rows: int64(p) + 1})
					return err
				})
				if err := errors.Join(errs...); err != nil {
					t.Errorf("run %d: %v", g, err)
				}
			}
		})
	}
	wg.Wait()
	for what, sql := range map[string]string{
		"runs moved once":   "SELECT count(*)::int FROM loadctl.load_run WHERE state = 'EXTRACTED_VALIDATED' AND seq = 2",
		"transitions":       "SELECT count(*)::int FROM loadctl.load_history WHERE event = 'extracted'",
		"dispatches":        "SELECT count(*)::int FROM loadctl.load_dispatch WHERE kind = 'VALIDATE_STAGE' AND state = 'PENDING'",
		"runs with one row": "SELECT count(DISTINCT run_id)::int FROM loadctl.load_dispatch",
	} {
		if n := ask[int](t, db, sql); n != runs {
			t.Errorf("%s: %d, want %d", what, n, runs)
		}
	}
}

func TestFinishRepeatedIsAnsweredAsRecorded(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5)
	c := claim(t, l, run.ID)
	check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 5)))
	report := ledger.FinishReport{Chunks: 1, Rows: 5, Metrics: []ledger.Metric{ledger.Value("A", "sum", "1.50")}}
	for range 2 {
		out, err := l.FinishPartition(t.Context(), c.Held, report)
		if err != nil || out.Partition != ledger.PartitionSuccess || out.Run != ledger.ExtractedValidated {
			t.Fatalf("finish: %+v, %v, want SUCCESS and EXTRACTED_VALIDATED", out, err)
		}
	}
	check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 5))) // identical: as recorded, in any later state
	own(t, l, run.ID, ledger.ValidateStage)
	check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 5)))
	for name, other := range map[string]ledger.FinishReport{
		"rows":    {Chunks: 1, Rows: 6, Metrics: report.Metrics},
		"chunks":  {Chunks: 2, Rows: 5, Metrics: report.Metrics},
		"metrics": {Chunks: 1, Rows: 5, Metrics: []ledger.Metric{ledger.Value("A", "sum", "2")}},
	} {
		if _, err := l.FinishPartition(t.Context(), c.Held, other); !errors.Is(err, ledger.ErrConflict) {
			t.Errorf("repeat with other %s: %v, want ErrConflict", name, err)
		}
	}
	stranger := c.Held
	stranger.Token = ledger.NewToken()
	if _, err := l.FinishPartition(t.Context(), stranger, report); !errors.Is(err, ledger.ErrClaimMismatch) {
		t.Errorf("by a stranger: %v, want CLAIM_MISMATCH", err)
	}
}

func TestChunkRules(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5, 5)
	c, other := claim(t, l, run.ID), claim(t, l, run.ID)
	good := chunk(c, 0, 3)
	check(t, l.ReportChunk(t.Context(), c.Held, good))
	check(t, l.ReportChunk(t.Context(), c.Held, good))
	for name, test := range map[string]struct {
		spoil func(*ledger.File)
		want  error
	}{
		"other rows":       {func(f *ledger.File) { f.Rows++ }, ledger.ErrChunkConflict},
		"other digest":     {func(f *ledger.File) { f.Digest = "y" }, ledger.ErrChunkConflict},
		"path taken":       {func(f *ledger.File) { f.Index = 1 }, ledger.ErrChunkConflict},
		"beside":           {func(f *ledger.File) { f.Index, f.Path = 1, other.Dir+"/part-0-1" }, ledger.ErrInvalid},
		"above":            {func(f *ledger.File) { f.Index, f.Path = 1, c.Dir+"/../x" }, ledger.ErrInvalid},
		"below":            {func(f *ledger.File) { f.Index, f.Path = 1, c.Dir+"/sub/x" }, ledger.ErrInvalid},
		"the directory":    {func(f *ledger.File) { f.Index, f.Path = 1, c.Dir }, ledger.ErrInvalid},
		"unclean":          {func(f *ledger.File) { f.Index, f.Path = 1, c.Dir+"//x" }, ledger.ErrInvalid},
		"no digest":        {func(f *ledger.File) { f.Digest = "" }, ledger.ErrInvalid},
		"negative":         {func(f *ledger.File) { f.Bytes = -1 }, ledger.ErrInvalid},
		"unspoiled, again": {func(*ledger.File) {}, nil},
	} {
		f := good
		test.spoil(&f)
		if err := l.ReportChunk(t.Context(), c.Held, f); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	late := c.Held
	late.Token = ledger.NewToken()
	f := good
	f.Index = 7
	if err := l.ReportChunk(t.Context(), late, f); !errors.Is(err, ledger.ErrClaimMismatch) {
		t.Errorf("late report: %v, want CLAIM_MISMATCH", err)
	}
}

func TestFinishThatDoesNotAgreeFailsAtOnce(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	five := int64(5)
	source := []ledger.Metric{ledger.Value("", "rows", "5"), ledger.Value("A", "nonnull", "5"), ledger.Value("A", "sum", "10.00"), {Column: "A", Name: "max"}}
	same := []ledger.Metric{ledger.Value("", "rows", "5"), ledger.Value("A", "nonnull", "5"), ledger.Value("A", "sum", "10"), ledger.Value("A", "max", "3")}
	for name, test := range map[string]struct {
		chunks []int64 // rows of the chunks that are reported
		report ledger.FinishReport
		source []ledger.Metric
		want   string // in the message
	}{
		"ended early":     {[]int64{4}, ledger.FinishReport{Chunks: 1, Rows: 4}, nil, "rows: source has 5, stream has 4"},
		"chunk missing":   {[]int64{5}, ledger.FinishReport{Chunks: 2, Rows: 5}, nil, "chunks: stream has 2, stream has 1"},
		"rows missing":    {[]int64{3}, ledger.FinishReport{Chunks: 1, Rows: 5}, nil, "rows: stream has 5, stream has 3"},
		"other sum":       {[]int64{5}, ledger.FinishReport{Chunks: 1, Rows: 5, Metrics: same[:2]}, source[:3], "A sum: source has 10.00, stream has nothing"},
		"NULL has values": {[]int64{5}, ledger.FinishReport{Chunks: 1, Rows: 5, Metrics: same}, source, "A max: source has nothing, stream has 3 (NULL on one side)"},
		"no metrics":      {[]int64{5}, ledger.FinishReport{Chunks: 1, Rows: 5}, source[:1], "rows: source has 5, stream has nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			run := submit(t, l, name)
			m := manifest(own(t, l, run.ID, ledger.Plan).Hold, five, five)
			m.Slices[0].Metrics = test.source
			must(t)(l.RegisterManifest(t.Context(), m))
			c := claim(t, l, run.ID)
			for i, rows := range test.chunks {
				check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, i, rows)))
			}
			_, err := l.FinishPartition(t.Context(), c.Held, test.report)
			first := fmt.Sprint(err)
			out, err := l.FinishPartition(t.Context(), c.Held, test.report) // a repeat is answered as recorded
			if first != fmt.Sprint(err) {
				t.Fatalf("repeat: %v, want %s", err, first)
			}
			if !errors.Is(err, ledger.ErrMismatch) || out.Run != ledger.FailedExtract || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("finish: %+v, %v, want FAILED_EXTRACT with %q", out, err, test.want)
			}
			r := must(t)(l.Run(t.Context(), run.ID))
			if r.State != ledger.FailedExtract || !strings.Contains(r.Message, test.want) || r.Class != "MISMATCH" {
				t.Fatalf("run %s [%s]: %s, want FAILED_EXTRACT with %q", r.State, r.Class, r.Message, test.want)
			}
			if got := ask[string](t, db, "SELECT string_agg(state, ' ' ORDER BY idx) FROM loadctl.load_partition WHERE run_id = $1", run.ID); got != "FAILED VOID" {
				t.Fatalf("partitions %s, want FAILED VOID", got)
			}
			if files, err := l.Files(t.Context(), run.ID); err != nil || len(files) > 0 {
				t.Fatalf("files that count: %v, %v, want none", files, err)
			}
		})
	}
}

// A chunk that is reported at the very moment when its attempt ends, whichever way, never counts.
func TestChunkAgainstTheEndOfItsAttempt(t *testing.T) {
	t.Parallel()
	const runs = 90
	l, db := open(t)
	makeRunning(t, db, runs)
	for g := 1; g <= runs; g++ {
		held := running(g, 0)
		ends := []func() error{
			func() error { return second(l.Cancel(t.Context(), held.Run, "op", "x")) },
			func() error {
				_, err := l.RetryPartition(t.Context(), held, ledger.Lost{Counted: true})
				return err
			},
			func() error {
				return second(l.FailPartition(t.Context(), held, ledger.Failure{Event: ledger.EventExtractFailed}))
			},
		}
		f := ledger.File{Index: 1, Path: ledger.AttemptDir("root", 0, held.Token) + "/x", Rows: 1, Digest: "x"}
		errs := together(2, func(i int) error {
			if i == 0 {
				return ends[g%len(ends)]()
			}
			return l.ReportChunk(t.Context(), held, f)
		})
		if errs[0] != nil || errs[1] != nil && !errors.Is(errs[1], ledger.ErrClaimMismatch) {
			t.Fatalf("run %d: %v", g, errs)
		}
	}
	if n := ask[int](t, db, `SELECT count(*)::int FROM loadctl.load_file f JOIN loadctl.load_partition p ON p.run_id = f.run_id AND p.idx = f.partition
 WHERE f.voided_at IS NULL AND p.state <> 'RUNNING'`); n != 0 {
		t.Fatalf("%d chunks count although their attempt is over", n)
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_file WHERE idx = 1"); n == 0 || n == runs {
		t.Logf("the race was one-sided: %d of %d chunks were recorded", n, runs)
	}
}

// The report that should have moved the run died between its partition and the run, in a version that did so in two
// transactions, or by hand: Complete repairs it, and only once.
func TestCompleteMovesWhatIsComplete(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	makeRunning(t, db, 1)
	run := running(1, 0).Run
	if moved, err := l.Complete(t.Context(), run); err != nil || moved {
		t.Fatalf("complete with open partitions: %v, %v, want nothing", moved, err)
	}
	change(t, db, "UPDATE loadctl.load_partition SET state = 'SUCCESS', finished_at = now(), ended_at = now(), chunks = 1, rows_read = expected_rows")
	errs := together(4, func(int) error {
		_, err := l.Complete(t.Context(), run)
		return err
	})
	check(t, errors.Join(errs...))
	if r := must(t)(l.Run(t.Context(), run)); r.State != ledger.ExtractedValidated || r.Seq != 2 {
		t.Fatalf("run is %s at %d, want EXTRACTED_VALIDATED at 2", r.State, r.Seq)
	}
}

func TestCompleteRefusesAnotherTotal(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	makeRunning(t, db, 1)
	change(t, db, "UPDATE loadctl.load_run SET expected_rows = 4")
	_, err := l.FinishPartition(t.Context(), running(1, 0), ledger.FinishReport{Chunks: 1, Rows: 1})
	check(t, err)
	out, err := l.FinishPartition(t.Context(), running(1, 1), ledger.FinishReport{Chunks: 1, Rows: 2})
	if !errors.Is(err, ledger.ErrMismatch) || out.Run != ledger.FailedExtract || !strings.Contains(err.Error(), "source has 4, stream has 3") {
		t.Fatalf("last finish: %+v, %v, want FAILED_EXTRACT with both totals", out, err)
	}
}
