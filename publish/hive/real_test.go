package hive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

var (
	amount = stage.Column{Name: "amount", Source: "AMOUNT", Type: extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}}
	note   = stage.Column{Name: "note", Source: "NOTE", Type: extract.Type{Kind: extract.Text, Length: 400}}
	at     = stage.Column{Name: "at", Source: "AT", Type: extract.Type{Kind: extract.Timestamp, Scale: 9}}
	wide   = stage.Column{Name: "wide", Source: "WIDE", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}}
	bin    = stage.Column{Name: "bin", Source: "BIN", Type: extract.Type{Kind: extract.Binary}}
	flt    = stage.Column{Name: "flt", Source: "FLT", Type: extract.Type{Kind: extract.Float32}}
	dbl    = stage.Column{Name: "dbl", Source: "DBL", Type: extract.Type{Kind: extract.Float64}}
)

// stage seals one file, filled by fill, in a directory of that name and makes the staging table.
func (r real) stage(t *testing.T, name string, cols []stage.Column, fill func(b *extract.Batch)) publish.Staging {
	t.Helper()
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	fill(b)
	var data bytes.Buffer
	w, err := parquet.NewWriter(&data, cols, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := r.Store.Create(t.Context(), name+"/part-00000-00000.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := publish.Staging{Database: r.Database, Table: name + "__stg", Location: r.Store.URI(name), Columns: cols}
	if err := r.hive.Stage(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// amounts are n rows of amount.
func amounts(n int) func(b *extract.Batch) {
	return func(b *extract.Batch) {
		for i := range n {
			b.Cols[0].AppendInt(int64(i))
			b.Rows++
		}
	}
}

// target makes a table of one column, amount, and its partition.
func (r real) target(t *testing.T, name string) publish.Target {
	t.Helper()
	x := publish.Target{Database: r.Database, Table: name, Columns: []stage.Column{amount},
		Partition: []publish.PartitionValue{{Column: "load_date", Value: "2026-09-28"}}}
	if err := r.hive.Create(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	return x
}

func (r real) open(t *testing.T, tag string) publish.Session {
	t.Helper()
	s, err := r.hive.Open(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func silent(publish.Progress) {}

func TestReal(t *testing.T) {
	r := newReal(t)
	for name, test := range map[string]func(*testing.T, real){
		"FilesReadAlikeByEveryReader":   filesReadAlike,
		"MeasuresAlikeByEveryEngine":    measuresAlike,
		"RefusesOtherTables":            refusesOtherTables,
		"NUL04NotNullColumn":            notNullColumn,
		"MissingDatabase":               missingDatabase,
		"RowsAndQueryID":                rowsAndQueryID,
		"LocksThePartition":             locksThePartition,
		"KilledByTag":                   killedByTag,
		"CancelledWhileRunning":         cancelledWhileRunning,
		"LostAnswerIsUnknown":           lostAnswer,
		"FencedByAnotherProcess":        fenced,
		"ObservesWithoutTheDirectory":   observesWithoutTheDirectory,
		"OperationSurvivesItsOwnHandle": operationByHandle,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
	}
}

// A plain SELECT * is a fetch by the row reader, the rest goes through the vectorised one or not as told.
func filesReadAlike(t *testing.T, r real) {
	cols := []stage.Column{amount, note, at, wide, bin, flt, dbl}
	s := r.stage(t, "alike", cols, func(b *extract.Batch) {
		b.Cols[0].AppendInt(-150)
		b.Cols[1].AppendString("점검 \"q\"")
		b.Cols[2].AppendTime(20724, 1500000000)
		b.Cols[3].AppendWide(extract.NewInt128(25))
		b.Cols[4].AppendBytes([]byte{0xff, 0})
		b.Cols[5].AppendFloat32(1.5)
		b.Cols[6].AppendFloat64(math.MaxFloat64)
		for i := range cols {
			b.Cols[i].Null()
		}
		for i := range cols {
			if cols[i] == at {
				day, _, err := extract.ParseTimestamp("0001-01-01 00:00:00")
				if err != nil {
					t.Fatal(err)
				}
				b.Cols[i].AppendTime(day, 0)
				continue
			}
			b.Cols[i].Null()
		}
		b.Rows = 3
	})
	session, err := hs2.Open(t.Context(), r.hs2)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	null := hs2.Value{Null: true}
	want := [][]hs2.Value{
		{{Text: "-1.50"}, {Text: "점검 \"q\""}, {Text: "2026-09-28 00:00:01.5"}, {Text: "0.0000000025"}, {Text: "ff00"}, {Text: "1.5"}, {Text: "1.7976931348623157e+308"}},
		{null, null, null, null, null, null, null},
		{null, null, {Text: "0001-01-01 00:00:00"}, null, null, null, null},
	}
	for _, setting := range []string{"hive.fetch.task.conversion=more", "hive.fetch.task.conversion=none", "hive.vectorized.execution.enabled=false"} {
		if _, err := ask(t.Context(), session, "SET "+setting); err != nil {
			t.Fatal(err)
		}
		got, err := ask(t.Context(), session, "SELECT * FROM "+s.Database+"."+s.Table)
		for _, row := range got {
			for i := range row {
				if row[i].Null {
					row[i].Text = ""
				}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("with %s: %v, %v, want %v", setting, got, err, want)
		}
	}
}

// Sums in two parts are exact in vectorised arithmetic and in the other.
func measuresAlike(t *testing.T, r real) {
	most := extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}
	n, err := extract.ParseDecimal(strings.Repeat("9", 28)+"."+strings.Repeat("9", 10), most)
	if err != nil {
		t.Fatal(err)
	}
	s := r.stage(t, "engines", []stage.Column{wide, at}, func(b *extract.Batch) {
		for range 3 {
			b.Cols[0].AppendWide(n)
			b.Cols[1].AppendTime(-1, 1)
			b.Rows++
		}
		b.Cols[0].AppendWide(extract.NewInt128(-1))
		b.Cols[1].Null()
		b.Rows++
	})
	var ms []extract.Measure
	for _, w := range []extract.What{extract.Sum, extract.Min, extract.Max, extract.Checksum} {
		ms = append(ms, extract.Measure{Column: "WIDE", Type: wide.Type, What: w})
	}
	ms = append(ms, extract.Measure{Column: "AT", Type: at.Type, What: extract.Checksum})
	plain, err := hive.New(hive.Config{HS2: r.hs2, Lister: nobody{}, Settings: map[string]string{"hive.vectorized.execution.enabled": "false"}})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var got [2][]extract.Metric
	for i, w := range []*hive.Warehouse{r.hive, plain} {
		if got[i], err = w.Measure(t.Context(), publish.Scope{Staging: &s}, ms); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got[0], got[1]) {
		t.Errorf("vectorised %+v, not vectorised %+v", got[0], got[1])
	}
	// three times 10^28-10^-10, less 10^-10
	if want := "2" + strings.Repeat("9", 28) + ".9999999996"; got[0][0].Value != want {
		t.Errorf("sum %s, want %s", got[0][0].Value, want)
	}
}

func refusesOtherTables(t *testing.T, r real) {
	for ddl, says := range map[string]string{
		"CREATE TABLE %s (amount decimal(18,2)) PARTITIONED BY (load_date string) STORED AS ORC TBLPROPERTIES ('transactional'='true')":            "managed table",
		"CREATE EXTERNAL TABLE %s (amount decimal(18,2)) PARTITIONED BY (load_date string) STORED AS ORC":                                          "OrcSerde",
		"CREATE VIEW %s AS SELECT cast(1 AS decimal(18,2)) amount, 'x' load_date":                                                                  "view",
		"CREATE EXTERNAL TABLE %s (amount decimal(18,2)) PARTITIONED BY (load_date int) STORED AS PARQUET":                                         `"load_date" is int`,
		"CREATE EXTERNAL TABLE %s (amount double, extra string) PARTITIONED BY (load_date string) STORED AS PARQUET":                               `"amount" is double, the plan has decimal(18,2); column "extra"`,
		"CREATE EXTERNAL TABLE %s (amount decimal(18,2)) PARTITIONED BY (load_date string, hour string) STORED AS PARQUET":                         "(load_date, hour)",
		"CREATE EXTERNAL TABLE %s (amount decimal(18,2), load_date string) STORED AS PARQUET":                                                      "partitioned by ()",
		"CREATE EXTERNAL TABLE %s (amount decimal(18,2) COMMENT '| a\n# Partition Information') PARTITIONED BY (load_date date) STORED AS PARQUET": "",
	} {
		x := publish.Target{Database: r.Database, Table: fmt.Sprintf("other_%d", len(ddl)), Columns: []stage.Column{amount},
			Partition: []publish.PartitionValue{{Column: "load_date", Value: "2026-09-28"}}}
		r.rows(t, fmt.Sprintf(ddl, x.Database+"."+x.Table))
		_, err := r.hive.Inspect(t.Context(), x)
		if says == "" {
			if err != nil {
				t.Errorf("%s: %v, want no error", ddl, err)
			}
			continue
		}
		if !errors.Is(err, publish.ErrSchema) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want ErrSchema that says %s", ddl, err, says)
		}
	}
}

// NUL-04 cannot come up: Hive enforces no NOT NULL on an external table, and only such are published to.
func notNullColumn(t *testing.T, r real) {
	x := r.target(t, "strict")
	_, err := ask(t.Context(), r.admin, fmt.Sprintf("ALTER TABLE %s.%s CHANGE amount amount decimal(18,2) CONSTRAINT nn NOT NULL ENABLE", x.Database, x.Table))
	var e *hs2.Error
	if !errors.As(err, &e) || e.Code != 10326 {
		t.Errorf("NOT NULL on an external table: %v, want Hive's refusal 10326", err)
	}
}

func missingDatabase(t *testing.T, r real) {
	x := publish.Target{Database: r.Database + "_none", Table: "t", Columns: []stage.Column{amount}}
	s := publish.Staging{Database: x.Database, Table: "s", Location: r.Store.URI("none"), Columns: x.Columns}
	_, inspect := r.hive.Inspect(t.Context(), x)
	for op, err := range map[string]error{"inspect": inspect, "create": r.hive.Create(t.Context(), x), "stage": r.hive.Stage(t.Context(), s)} {
		if !errors.Is(err, publish.ErrNoTarget) || !strings.Contains(err.Error(), x.Database) {
			t.Errorf("%s: %v, want ErrNoTarget that names the database", op, err)
		}
	}
}

func rowsAndQueryID(t *testing.T, r real) {
	x := r.target(t, "counted")
	s := r.stage(t, "counted", x.Columns, amounts(1000))
	var last publish.Progress
	first := true
	result, err := r.open(t, "loadctl-counted-1").Publish(t.Context(), publish.Publication{Staging: s, Target: x}, func(p publish.Progress) {
		if first && p.Operation == "" {
			t.Error("the first report has no operation handle")
		}
		first, last = false, p
	})
	if err != nil || result.Rows != 1000 || result.QueryID == "" || result.Elapsed <= 0 {
		t.Errorf("result %+v, %v, want 1000 rows and a query id", result, err)
	}
	if last.QueryID != result.QueryID || last.Fraction != 1 {
		t.Errorf("last report %+v, want query %s at 1", last, result.QueryID)
	}
}

// With hive.txn.ext.locking.enabled, which Hive 4 offers, the partition is locked exclusively while it is replaced.
func locksThePartition(t *testing.T, r real) {
	x := r.target(t, "locked")
	s := r.stage(t, "locked", x.Columns, amounts(10))
	watch, err := hs2.Open(t.Context(), r.hs2)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(context.Background())
	session, done := r.open(t, "loadctl-locked-1"), make(chan error, 1)
	go func() {
		_, err := session.Publish(t.Context(), publish.Publication{Staging: s, Target: x}, silent)
		done <- err
	}()
	for {
		rows, err := ask(t.Context(), watch, "SHOW LOCKS")
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(rows, func(r []hs2.Value) bool { // id, database, table, partition, state, blocker, type
			return r[1].Text == x.Database && r[2].Text == x.Table && r[3].Text == "load_date=2026-09-28" && r[6].Text == "EXCLUSIVE"
		}) {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the publish ended (%v) and no exclusive lock was seen", err)
		default:
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// ended runs a publish that stop, called at its first report, is meant to end before Hive has moved anything.
func (r real) ended(ctx context.Context, t *testing.T, name string, stop func(tag string)) error {
	t.Helper()
	x := r.target(t, name)
	s := r.stage(t, name, x.Columns, amounts(10))
	if _, err := r.open(t, "loadctl-"+name+"-1").Publish(t.Context(), publish.Publication{Staging: s, Target: x}, silent); err != nil {
		t.Fatal(err)
	}
	before, err := r.hive.Observe(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	tag := "loadctl-" + name + "-2"
	session := r.open(t, tag)
	var once sync.Once
	_, ended := session.Publish(ctx, publish.Publication{Staging: s, Target: x, Tag: tag}, func(publish.Progress) {
		once.Do(func() { stop(tag) })
	})
	if !errors.Is(ended, publish.ErrUnknown) {
		t.Errorf("the ended publish: %v, want ErrUnknown", ended)
	}
	if err := session.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	after, err := r.hive.Observe(t.Context(), x)
	if err != nil || !reflect.DeepEqual(before.Files, after.Files) {
		t.Errorf("the target's files changed from %+v to %+v, %v", before.Files, after.Files, err)
	}
	return ended
}

func killedByTag(t *testing.T, r real) {
	admin, err := hs2.Open(t.Context(), r.hs2)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	err = r.ended(t.Context(), t, "killed", func(tag string) {
		if _, err := ask(t.Context(), admin, "KILL QUERY '"+tag+"'"); err != nil {
			t.Errorf("kill: %v", err)
		}
	})
	var e *hs2.Error
	if !errors.As(err, &e) || !e.Canceled() {
		t.Errorf("error %v, want a cancelled operation", err)
	}
}

func cancelledWhileRunning(t *testing.T, r real) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := r.ended(ctx, t, "cancelled", func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancel", err)
	}
}

// cutter is a connection that is lost at the INSERT: before it has left, or after.
type cutter struct {
	net.Conn
	sendFirst bool
	inserts   *atomic.Int32
}

func (c cutter) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("INSERT OVERWRITE")) {
		return c.Conn.Write(p)
	}
	c.inserts.Add(1)
	if c.sendFirst {
		c.Conn.Write(p)
	}
	c.Conn.Close()
	return 0, net.ErrClosed
}

// What was sent, or may have been, is never sent again.
func lostAnswer(t *testing.T, r real) {
	x := r.target(t, "lost")
	s := r.stage(t, "lost", x.Columns, amounts(1))
	for _, sendFirst := range []bool{false, true} {
		var inserts atomic.Int32
		cfg := r.hs2
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return cutter{Conn: c, sendFirst: sendFirst, inserts: &inserts}, err
		}
		w, err := hive.New(hive.Config{HS2: cfg, Lister: nobody{}})
		if err != nil {
			t.Fatal(err)
		}
		session, err := w.Open(t.Context(), "loadctl-lost-1")
		if err != nil {
			t.Fatal(err)
		}
		_, err = session.Publish(t.Context(), publish.Publication{Staging: s, Target: x}, silent)
		if !errors.Is(err, publish.ErrUnknown) || errors.Is(err, publish.ErrRefused) || inserts.Load() != 1 {
			t.Errorf("sent %t: %v after %d statements, want ErrUnknown after one", sendFirst, err, inserts.Load())
		}
		if err := session.Close(t.Context()); err != nil {
			t.Errorf("close through a new connection: %v", err)
		}
	}
}

// The handle goes through JSON, as it would to another process.
func fenced(t *testing.T, r real) {
	x := r.target(t, "fenced")
	s := r.stage(t, "fenced", x.Columns, amounts(10))
	session := r.open(t, "loadctl-fenced-1")
	text, err := json.Marshal(session.Handle())
	if err != nil {
		t.Fatal(err)
	}
	var h publish.Handle
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	other, err := hive.New(hive.Config{HS2: r.hs2, Lister: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := other.Fence(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Publish(t.Context(), publish.Publication{Staging: s, Target: x}, silent); err == nil {
		t.Error("a fenced session published")
	}
	if e, err := r.hive.Observe(t.Context(), x); err != nil || e.Location != "" {
		t.Errorf("after the fence: %+v, %v, want no partition", e, err)
	}
	h.Session = h.Session[1:]
	if err := other.Fence(t.Context(), h); err == nil {
		t.Error("a damaged handle was taken for a closed session")
	}
}

// nobody is a Lister for a warehouse that lists nothing.
type nobody struct{}

func (nobody) List(context.Context, string) ([]stage.Info, error) { return nil, stage.ErrNotExist }

func observesWithoutTheDirectory(t *testing.T, r real) {
	x := r.target(t, "gone")
	if err := r.Store.MkdirAll(t.Context(), "gone/p"); err != nil {
		t.Fatal(err)
	}
	r.rows(t, fmt.Sprintf("ALTER TABLE %s.%s ADD PARTITION (load_date='2026-09-28') LOCATION '%s'", x.Database, x.Table, r.Store.URI("gone/p")))
	if err := r.Store.Remove(t.Context(), "gone/p"); err != nil {
		t.Fatal(err)
	}
	e, err := r.hive.Observe(t.Context(), x)
	if err != nil || e.Location != r.Store.URI("gone/p") || e.Rows != 0 || len(e.Files) != 0 {
		t.Errorf("evidence %+v, %v", e, err)
	}
}

func operationByHandle(t *testing.T, r real) {
	session, err := hs2.Open(t.Context(), r.hs2)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	o, err := session.Execute(t.Context(), "SELECT 'x', cast(NULL AS string)", nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hs2.ParseOperationHandle(o.Handle().Text())
	if err != nil {
		t.Fatal(err)
	}
	other, err := hs2.Open(t.Context(), r.hs2)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	again := other.Operation(h)
	if _, err := again.Wait(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	rows, err := again.Rows(t.Context())
	if err != nil || len(rows) != 1 || rows[0][0].Text != "x" || rows[0][1] != (hs2.Value{Null: true}) {
		t.Errorf("rows %v, %v", rows, err)
	}
	if lines, err := again.Log(t.Context()); err != nil || len(lines) == 0 {
		t.Errorf("log of %d lines, %v", len(lines), err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUnreachableAndWrongPassword(t *testing.T) {
	stack := rig.Shared(t)
	good := hs2.Config{Address: stack.Hive.Instance, Auth: hs2.Auth(stack.Hive.Auth), User: stack.Hive.User, Password: "not-the-password"}
	away := good
	away.Address = "127.0.0.1:1"
	for _, tt := range []struct {
		cfg  hs2.Config
		is   error
		says string
	}{{good, publish.ErrAuth, stack.Hive.User}, {away, publish.ErrUnreachable, "127.0.0.1:1"}} {
		w, err := hive.New(hive.Config{HS2: tt.cfg, Lister: nobody{}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = w.Identity(t.Context())
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error %v, want %v that says %s", err, tt.is, tt.says)
		}
		if strings.Contains(fmt.Sprint(err), "not-the-password") {
			t.Errorf("error %v tells the password", err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("it took %s to say so", d)
		}
		if _, err := w.Open(t.Context(), "x"); !errors.Is(err, tt.is) {
			t.Errorf("open: %v, want %v", err, tt.is)
		}
	}
}
