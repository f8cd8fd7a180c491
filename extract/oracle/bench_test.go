package oracle_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle"
)

// BenchmarkRead reads a table of 16 columns by either reader, from a server in a process of its own. Trust cpu-us/row:
// what this process, the client alone, spends on a row.
func BenchmarkRead(b *testing.B) {
	address := benchServer(b)
	for _, reader := range []string{oracle.ReaderThin, oracle.ReaderDriver} {
		b.Run(reader, func(b *testing.B) { benchRead(b, address, reader) })
	}
}

func benchRead(b *testing.B, address, reader string) {
	host, port, _ := strings.Cut(address, ":")
	cfg := oracle.Config{Host: host, Service: "ORASIMPDB1", User: "APP", Reader: reader, Password: func() (string, error) { return password, nil }}
	if _, err := fmt.Sscan(port, &cfg.Port); err != nil {
		b.Fatal(err)
	}
	source, err := oracle.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	table, err := source.Describe(b.Context(), extract.Selection{Table: app("BENCH")})
	if err != nil {
		b.Fatal(err)
	}
	at, err := source.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	q := extract.Query{Table: table}
	batch := extract.NewBatch(table.Columns, 8192, 8<<20)
	b.ReportAllocs()
	rows, cpu := int64(0), -processCPU(b)
	b.ResetTimer()
	for b.Loop() {
		rows += readRows(b, source, q, at, batch)
	}
	cpu += processCPU(b)
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/1e3/float64(rows), "cpu-us/row")
}

func readRows(b *testing.B, source extract.Source, q extract.Query, at extract.Snapshot, batch *extract.Batch) (rows int64) {
	r, err := source.Read(b.Context(), q, at, extract.PlanSingle()[0])
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		err := r.Next(b.Context(), batch)
		if err == io.EOF {
			return rows
		}
		if err != nil {
			b.Fatal(err)
		}
		rows += int64(batch.Rows)
	}
}

// processCPU is the time that this process has computed for.
func processCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchServer builds and starts the stand-in and returns its address.
func benchServer(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	program := filepath.Join(dir, "orasim")
	if out, err := exec.Command("go", "build", "-o", program, "../../integration/orasim/cmd/orasim").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	seed := filepath.Join(dir, "seed.sql")
	if err := os.WriteFile(seed, []byte(benchTable(20_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), program, "--seed", seed, "--user", "APP")
	cmd.Env = append(os.Environ(), "ORASIM_PASSWORD="+password)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
		_ = cmd.Wait() // how it ended tells nothing of the readers
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

func benchTable(rows int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	s.WriteString(`CREATE TABLE APP.BENCH (ID NUMBER(12) NOT NULL, CUST NUMBER(10), AMOUNT NUMBER(18,2), RATE NUMBER(9,4), TOTAL NUMBER(38,10),
		QTY NUMBER(6), NAME VARCHAR2(60), CITY VARCHAR2(40), GRADE CHAR(3), STATUS VARCHAR2(10), NOTE VARCHAR2(200), CODE VARCHAR2(20),
		INSP_DT DATE, END_DT DATE, CREATED TIMESTAMP(6), CHANGED TIMESTAMP(6));` + "\n")
	for i := range rows {
		at := time.Date(2020, 1, 1, 0, 0, r.IntN(200_000_000), 0, time.UTC)
		note := "NULL"
		if r.IntN(3) > 0 {
			note = "'" + strings.Repeat("n", 10+r.IntN(40)) + "'"
		}
		fmt.Fprintf(&s, "INSERT INTO APP.BENCH VALUES (%d,%d,%d.%02d,%d.%04d,%d.%010d,%d,'name %d','city %d','G%d ','S%d',%s,'C%08d',DATE '%s',DATE '9999-12-31',TIMESTAMP '%s.%06d',TIMESTAMP '%s.%06d');\n",
			1_000_000+i, r.IntN(1e9), r.IntN(1e9), r.IntN(100), r.IntN(1e4), r.IntN(1e4), r.Int64N(1e15), r.IntN(1e10), r.IntN(1000),
			r.IntN(1e9), r.IntN(500), r.IntN(9), r.IntN(4), note, r.IntN(1e8), at.Format(time.DateOnly),
			at.Format(time.DateTime), r.IntN(1e6), at.Add(time.Hour).Format(time.DateTime), r.IntN(1e6))
	}
	s.WriteString("GRANT EXECUTE ON DBMS_FLASHBACK TO APP;\n")
	return s.String()
}
