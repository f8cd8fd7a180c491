package rig_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive"
	"github.com/beltran/gohive/hiveserver"
	"github.com/colinmarc/hdfs/v2"
	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/integration/rig"
)

func TestWarmStackIsReused(t *testing.T) {
	first := rig.Shared(t)
	before := first.Status(t.Context())
	begin := time.Now()
	again := rig.Shared(t)
	t.Logf("warm after %s", time.Since(begin))
	if first.Hive != again.Hive || first.HDFS != again.HDFS || first.Postgres != again.Postgres {
		t.Fatalf("the second call got another stack:\n%+v\n%+v", first, again)
	}
	for i, d := range again.Status(t.Context()) {
		if d.Err != nil || d.PID != before[i].PID || d.Memory == 0 {
			t.Errorf("got %+v, want process %d ready", d, before[i].PID)
		}
	}
}

func TestHDFSWriteAndRead(t *testing.T) {
	stack := rig.SharedParts(t, rig.HDFS)
	client := openHDFS(t, stack)
	dir := "/user/loadctl/rig-" + rand.Text()
	if err := client.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.RemoveAll(dir) })
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if err := writeFile(client, dir+"/file", want); err != nil {
		t.Fatal(err)
	}
	got, err := client.ReadFile(dir + "/file")
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read back: %d bytes, %v; want the %d written", len(got), err, len(want))
	}
	if err := client.Mkdir("/warehouse/managed/rig-"+rand.Text(), 0o755); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("make a folder of hive's: got %v, want %v", err, fs.ErrPermission)
	}
}

// TestHiveReadsWhatLoadctlWrites goes through all of it: permissions, the metastore, Tez.
func TestHiveReadsWhatLoadctlWrites(t *testing.T) {
	stack := rig.Shared(t)
	client := openHDFS(t, stack)
	dir := "/stage/rig-" + rand.Text()
	if err := client.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.RemoveAll(dir) })
	if err := writeFile(client, dir+"/rows.csv", []byte("1\n2\n39\n")); err != nil {
		t.Fatal(err)
	}
	if err := client.Chmod(dir+"/rows.csv", 0o640); err != nil {
		t.Fatal(err)
	}
	hive := openHive(t, stack, stack.Hive.Password)
	db := "rig_" + strings.ToLower(rand.Text())
	hive.exec(t, "CREATE DATABASE "+db)
	t.Cleanup(func() { hive.exec(t, "DROP DATABASE "+db+" CASCADE") })
	hive.exec(t, "CREATE EXTERNAL TABLE "+db+".t (n int) ROW FORMAT DELIMITED STORED AS TEXTFILE LOCATION '"+dir+"'")
	if got := hive.exec(t, "SELECT cast(sum(n) AS int) FROM "+db+".t"); len(got) != 1 || got[0] != 42 {
		t.Fatalf("sum: got %v, want [42]", got)
	}
}

func TestHiveRefusesAWrongPassword(t *testing.T) {
	stack := rig.Shared(t)
	if _, err := dialHive(t, stack, "not it"); err == nil {
		t.Fatal("a wrong password was accepted")
	}
}

func TestPostgresRefusesAWrongPassword(t *testing.T) {
	server := rig.SharedParts(t, rig.Postgres).Postgres
	server.Password = "not it"
	if conn, err := pgx.Connect(t.Context(), server.DSN("postgres")); err == nil {
		conn.Close(t.Context())
		t.Fatal("a wrong password was accepted")
	}
}

// TestExclusiveHeals breaks daemons in one way or another; the next user finds all well, and only the dead replaced.
func TestExclusiveHeals(t *testing.T) {
	before := map[string]int{}
	var broken *rig.Stack
	t.Run("break", func(t *testing.T) {
		broken = rig.Exclusive(t, rig.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		ctx := t.Context()
		for _, d := range broken.Status(ctx) {
			before[d.Name] = d.PID
		}
		if err := errors.Join(broken.Kill(ctx, "postgres"), broken.Pause(ctx, "namenode"), broken.Kill(ctx, "datanode")); err != nil {
			t.Fatal(err)
		}
	})
	healed := rig.Shared(t)
	for _, d := range healed.Status(t.Context()) {
		if d.Err != nil {
			t.Errorf("%s after healing: %v", d.Name, d.Err)
		}
		killed := d.Name == "postgres" || d.Name == "datanode"
		if replaced := d.PID != before[d.Name]; replaced != killed {
			t.Errorf("%s: process replaced is %t, want %t", d.Name, replaced, killed)
		}
	}
	if healed.Postgres != broken.Postgres || healed.HDFS != broken.HDFS || healed.Hive != broken.Hive {
		t.Errorf("healing moved the stack:\n%+v\n%+v", broken, healed)
	}
}

// TestPrivateStack starts HDFS by itself from several callers at once, restarts it and stops it.
func TestPrivateStack(t *testing.T) {
	ctx := t.Context()
	opt := rig.Options{Parts: rig.HDFS, Dir: filepath.Join(t.TempDir(), "private")}
	t.Cleanup(func() {
		if err := rig.Stop(context.Background(), opt); err != nil {
			t.Error(err)
		}
	})
	if _, err := rig.Attach(opt); !errors.Is(err, rig.ErrDown) {
		t.Fatalf("attach before start: got %v, want %v", err, rig.ErrDown)
	}
	stacks := make(chan *rig.Stack)
	for range 3 {
		go func() {
			s, err := rig.Start(ctx, opt)
			if err != nil {
				t.Error(err)
			}
			stacks <- s
		}()
	}
	s, two, three := <-stacks, <-stacks, <-stacks
	if t.Failed() {
		t.FailNow()
	}
	if s.HDFS != two.HDFS || s.HDFS != three.HDFS {
		t.Fatalf("callers at one time got several stacks: %+v, %+v, %+v", s.HDFS, two.HDFS, three.HDFS)
	}
	client := openHDFS(t, s)
	if err := writeFile(client, "/tmp/kept", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Kill(ctx, "namenode"), s.Restart(ctx, "namenode")); err != nil {
		t.Fatal(err)
	}
	if got, err := openHDFS(t, s).ReadFile("/tmp/kept"); err != nil || string(got) != "kept" {
		t.Fatalf("read after restart: %q, %v", got, err)
	}
	if err := s.Kill(ctx, "hiveserver2"); err == nil || !strings.Contains(err.Error(), "[namenode datanode]") {
		t.Fatalf("kill what is not there: got %v, want an error that lists what is", err)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", s.HDFS.NameNode); err == nil {
		t.Fatal("the NameNode listens after Stop")
	}
}

func TestRefereesImport(t *testing.T) {
	out, err := exec.Command(rig.Python(t), "-c", "import duckdb, pyarrow.parquet; print(duckdb.sql('select 41 + 1').fetchall()[0][0])").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "42" {
		t.Fatalf("got %q, %v", out, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []rig.Options{{Auth: "KERBEROS"}, {Metastore: "remote"}, {Dir: "/tmp/with a space"}, {Dir: "/tmp/a,b"}} {
		if _, err := rig.Start(t.Context(), opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

func TestPasswordsAreClosed(t *testing.T) {
	stack := rig.Shared(t)
	for _, file := range []string{stack.Postgres.PasswordFile, stack.Hive.PasswordFile, filepath.Join(stack.Dir, "state.json"), filepath.Join(stack.Dir, "conf", "hive-site.xml")} {
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, want 600", file, st.Mode().Perm())
		}
	}
	for _, line := range stack.Env() {
		if strings.Contains(line, stack.Postgres.Password) || strings.Contains(line, stack.Hive.Password) {
			t.Errorf("Env tells a password: %s", line)
		}
	}
}

func openHDFS(t *testing.T, stack *rig.Stack) *hdfs.Client {
	t.Helper()
	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{stack.HDFS.NameNode}, User: stack.HDFS.User})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func writeFile(client *hdfs.Client, path string, content []byte) error {
	w, err := client.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		return errors.Join(err, w.Close())
	}
	for {
		if err := w.Close(); !hdfs.IsErrReplicating(err) {
			return err
		}
	}
}

// hive is a session.
type hive struct {
	client  *hiveserver.TCLIServiceClient
	session *hiveserver.TSessionHandle
}

func dialHive(t *testing.T, stack *rig.Stack, password string) (*hiveserver.TCLIServiceClient, error) {
	t.Helper()
	conn, err := net.Dial("tcp", stack.Hive.Instance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	cfg := &thrift.TConfiguration{}
	login := map[string]string{"username": stack.Hive.User, "password": password}
	sasl, err := gohive.NewTSaslTransport(thrift.NewTSocketFromConnConf(conn, cfg), stack.Hive.Host, "PLAIN", login, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	return hiveserver.NewTCLIServiceClientFactory(sasl, thrift.NewTBinaryProtocolFactoryConf(cfg)), sasl.Open()
}

func openHive(t *testing.T, stack *rig.Stack, password string) *hive {
	t.Helper()
	client, err := dialHive(t, stack, password)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := client.OpenSession(context.Background(), &hiveserver.TOpenSessionReq{
		ClientProtocol: hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V10, Username: &stack.Hive.User,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.CloseSession(context.Background(), &hiveserver.TCloseSessionReq{SessionHandle: opened.SessionHandle})
	})
	return &hive{client, opened.SessionHandle}
}

// exec runs a statement to its end and returns its first column, if it is of integers.
func (h *hive) exec(t *testing.T, sql string) []int32 {
	t.Helper()
	ctx := context.Background() // clean-ups run when the test's own has ended
	run, err := h.client.ExecuteStatement(ctx, &hiveserver.TExecuteStatementReq{SessionHandle: h.session, Statement: sql})
	if err != nil {
		t.Fatal(err)
	}
	if run.Status.StatusCode > hiveserver.TStatusCode_SUCCESS_WITH_INFO_STATUS {
		t.Fatalf("%s: %s", sql, run.Status.GetErrorMessage())
	}
	if !run.OperationHandle.HasResultSet {
		return nil
	}
	rows, err := h.client.FetchResults(ctx, &hiveserver.TFetchResultsReq{
		OperationHandle: run.OperationHandle, Orientation: hiveserver.TFetchOrientation_FETCH_NEXT, MaxRows: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows.GetResults().GetColumns()[0].GetI32Val().GetValues()
}
