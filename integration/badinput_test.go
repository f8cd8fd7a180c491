package integration

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// badInput is one way in which a run cannot begin.
type badInput struct {
	name  string
	kind  string // world; "" is embedded
	spoil func(t *testing.T, w *scenario.World)
	args  []string // "" is a run of the scenario's job and date
	exit  int
	says  []string // what the error must tell: the thing, and what to do
}

var badInputs = []badInput{
	{name: "unknown job", args: []string{"run", "--job", "INSP_DTI", "--date", scenario.Date}, exit: pipeline.ExitUsage, says: []string{"INSP_DTI", "INSP_DTL"}},
	{name: "bad date", args: []string{"run", "--job", scenario.Job, "--date", "28.09.2026"}, exit: pipeline.ExitUsage, says: []string{"28.09.2026"}},
	{name: "Oracle unreachable", spoil: closedPort("    port: ", "    service:"), exit: pipeline.ExitUnreachable, says: []string{"core", "127.0.0.1:", "UNREACHABLE"}},
	{name: "Oracle service unknown", spoil: edit("service: CORE", "service: NOSUCH"), exit: pipeline.ExitUnreachable, says: []string{"NOSUCH", "ORA-12514"}},
	{name: "Oracle password wrong", spoil: wrongSecret("oracle"), exit: pipeline.ExitUnreachable, says: []string{"ORA-01017", "LOADCTL", "LOGIN"}},
	{name: "PostgreSQL unreachable", spoil: closedPort("  port: ", "  database:"), exit: pipeline.ExitUnreachable, says: []string{"127.0.0.1:", "ledger"}},
	{name: "PostgreSQL password wrong", spoil: wrongSecret("ledger"), exit: pipeline.ExitUnreachable, says: []string{"loadctl_run", "LOGIN"}},
	{name: "NameNode unreachable", kind: "hive", spoil: closedPort("    namenodes: [127.0.0.1:", "]"), exit: pipeline.ExitUnreachable, says: []string{"127.0.0.1:", "NameNode"}},
	{name: "HiveServer2 unreachable", kind: "hive", spoil: closedPort("    port: ", "    auth:"), exit: pipeline.ExitUnreachable, says: []string{"127.0.0.1:", "HiveServer2"}},
	{name: "Hive password wrong", kind: "hive", spoil: func(t *testing.T, w *scenario.World) {
		name := filepath.Join(w.Dir, "secret", "hive")
		write(t, name, "not-the-password\n")
		edit(w.Stack.Hive.PasswordFile, name)(t, w)
	}, exit: pipeline.ExitUnreachable, says: []string{"LOGIN"}},
	{name: "table missing", spoil: editJob("app.insp_dtl", "app.insp_dtx"), exit: pipeline.ExitFailed, says: []string{`"APP"."INSP_DTX"`, "NO_TABLE"}},
	{name: "split column missing", spoil: editJob("column: SEQ", "column: SEQNO"), exit: pipeline.ExitFailed, says: []string{"SEQNO", "NO_COLUMN"}},
	{name: "column missing", spoil: editJob("  where:", "  columns: [SEQ, AMUONT, GRADE]\n  where:"), exit: pipeline.ExitFailed, says: []string{"AMUONT", "NO_COLUMN"}},
	{name: "SELECT missing", spoil: asSystem("REVOKE SELECT ON APP.INSP_DTL FROM LOADCTL"), exit: pipeline.ExitFailed, says: []string{"GRANT", "INSP_DTL", "LOADCTL"}},
	{name: "FLASHBACK missing", spoil: asSystem("REVOKE FLASHBACK ON APP.INSP_DTL FROM LOADCTL"), exit: pipeline.ExitFailed, says: []string{"FLASHBACK ON", "INSP_DTL", "LOADCTL", "PRIVILEGE"}},
	{name: "no way to read the SCN", spoil: asSystem("REVOKE SELECT ANY DICTIONARY FROM LOADCTL"), exit: pipeline.ExitFailed, says: []string{"GRANT", "DBMS_FLASHBACK", "PRIVILEGE"}},
	{name: "unsupported type", spoil: asSystem("ALTER TABLE APP.INSP_DTL ADD (DOC CLOB)"), exit: pipeline.ExitFailed, says: []string{"DOC", "CLOB", "UNSUPPORTED"}},
	{name: "two configuration faults", spoil: editJob("  strategy: range", "  strategy: rnage\n  colunm: X"), exit: pipeline.ExitUsage, says: []string{"rnage", "colunm", "insp_dtl.yaml:"}},
	{name: "target of other columns", spoil: func(t *testing.T, w *scenario.World) {
		if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
			t.Fatalf("first run: %s", got)
		}
		editJob("  where:", "  columns: [SEQ, AMOUNT]\n  where:")(t, w)
	}, exit: pipeline.ExitFailed, says: []string{"TARGET_SCHEMA", "insp_dt"}},
}

// TestBadInput: each fault is one message that names the thing and says what to do, with the documented exit code, and
// leaves nothing half made.
func TestBadInput(t *testing.T) {
	for _, b := range badInputs {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			kind := b.kind
			if kind == "" {
				kind = "embedded"
			}
			w := startWorld(t, kind, scenario.Options{Few: true})
			if b.spoil != nil {
				b.spoil(t, w)
			}
			args := b.args
			if args == nil {
				args = []string{"run", "--job", scenario.Job, "--date", scenario.Date}
			}
			got := loadctl(t, w, args...)
			if got.code != b.exit {
				t.Errorf("exit %d, want %d\n%s", got.code, b.exit, got)
			}
			for _, text := range b.says {
				if !strings.Contains(got.stderr, text) {
					t.Errorf("the message does not tell %q:\n%s", text, got.stderr)
				}
			}
			t.Logf("%s", got)
			wantQuiet(t, w, got)
			wantNothingActive(t, w)
		})
	}
}

// wantQuiet checks that no stack trace and no secret is shown.
func wantQuiet(t *testing.T, w *scenario.World, got output) {
	t.Helper()
	all := got.stdout + got.stderr
	for _, bad := range []string{"goroutine ", "panic", ".go:"} {
		if strings.Contains(all, bad) {
			t.Errorf("the message looks like a stack trace (%q):\n%s", bad, all)
		}
	}
	names, err := filepath.Glob(filepath.Join(w.Dir, "secret", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no secrets to look for: %v", err)
	}
	for _, name := range names {
		secret, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if s := strings.TrimSpace(string(secret)); s != "" && strings.Contains(all, s) {
			t.Errorf("the message shows the secret of %s", filepath.Base(name))
		}
	}
}

func wantNothingActive(t *testing.T, w *scenario.World) {
	t.Helper()
	runs, err := open(t, w).List(t.Context(), ledger.Filter{Active: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		t.Errorf("%s is left behind in %s: %s", r.Handle(), r.State, r.Message)
	}
}

// edit replaces a text of the daemon file; editJob one of the job file.
func edit(old, text string) func(*testing.T, *scenario.World) {
	return func(t *testing.T, w *scenario.World) { t.Helper(); editFile(t, w.Config, old, text) }
}

func editJob(old, text string) func(*testing.T, *scenario.World) {
	return func(t *testing.T, w *scenario.World) {
		t.Helper()
		editFile(t, filepath.Join(w.Dir, "jobs", strings.ToLower(scenario.Job)+".yaml"), old, text)
	}
}

func editFile(t *testing.T, name, old, text string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	write(t, name, strings.Replace(string(content), old, text, 1))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// closedPort puts a port where nobody listens between two texts of the daemon file.
func closedPort(before, after string) func(*testing.T, *scenario.World) {
	return func(t *testing.T, w *scenario.World) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(w.Config)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		end := strings.Index(text, "\n"+after)
		if after == "]" {
			end = strings.Index(text[strings.Index(text, before):], after) + strings.Index(text, before)
		}
		start := strings.LastIndex(text[:end], before) + len(before)
		write(t, w.Config, text[:start]+port+text[end:])
	}
}

func wrongSecret(name string) func(*testing.T, *scenario.World) {
	return func(t *testing.T, w *scenario.World) {
		t.Helper()
		write(t, filepath.Join(w.Dir, "secret", name), "not-the-password\n")
	}
}

func asSystem(statement string) func(*testing.T, *scenario.World) {
	return func(t *testing.T, w *scenario.World) {
		t.Helper()
		if err := w.Oracle.Run("SYS", statement); err != nil {
			t.Fatal(err)
		}
	}
}
