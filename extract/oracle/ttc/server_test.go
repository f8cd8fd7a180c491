package ttc

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testPassword = `Tiger/10 @:?#%한`

// serve starts a simulated Oracle server for one test.
func serve(t testing.TB, w wire.Config) *orasim.Server {
	t.Helper()
	server, err := orasim.Start(orasim.Config{User: "APP", Password: testPassword, Wire: w, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func configOf(server *orasim.Server) Config {
	return Config{Address: server.Addr(), Service: server.Service(), User: "app", Password: testPassword, Program: "loadctl"}
}

func connect(t testing.TB, cfg Config) *Session {
	t.Helper()
	s, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func script(t testing.TB, server *orasim.Server, script string) {
	t.Helper()
	if err := server.Run("APP", script); err != nil {
		t.Fatalf("%v in %.300s", err, script)
	}
}

// insert adds rows as they would lie on the wire, and commits.
func insert(t testing.TB, server *orasim.Server, text string, types []ora.Type, rows [][]ora.Value) {
	t.Helper()
	dba, err := server.Database().Connect(ora.Login{User: "APP", Service: server.Service()})
	if err != nil {
		t.Fatal(err)
	}
	defer dba.Close()
	stmt, err := dba.Prepare(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		binds := make([]ora.Bind, len(row))
		for i, v := range row {
			binds[i] = ora.Bind{Type: types[i], Value: v}
		}
		if _, _, err := stmt.Execute(t.Context(), binds); err != nil {
			t.Fatalf("insert % x: %v", row, err)
		}
	}
	if err := dba.Commit(); err != nil {
		t.Fatal(err)
	}
}

// readTexts reads a query to its end and returns the values as canonical text, NULL as "".
func readTexts(ctx context.Context, s *Session, q Query, batchRows, batchBytes int) ([][]string, error) {
	rows, err := s.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	b := extract.NewBatch(q.Columns, batchRows, batchBytes)
	var out [][]string
	for {
		err := rows.Next(ctx, b)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, textsOf(b)...)
	}
}

func textsOf(b *extract.Batch) [][]string {
	out := make([][]string, b.Rows)
	for i := range out {
		for j := range b.Cols {
			v := &b.Cols[j]
			text := []byte(nil)
			if !v.IsNull(i) {
				text = v.AppendText(nil, i)
			}
			out[i] = append(out[i], string(text))
		}
	}
	return out
}
