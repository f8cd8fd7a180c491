package referee

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
)

// client names a client.
type client string

const (
	goOra       client = "go-ora"
	python      client = "python"
	pythonArrow client = "python-arrow"
	node        client = "node"
	jdbc11      client = "ojdbc11"
	jdbc8       client = "ojdbc8"
)

// able is what a client can tell apart. Finer answers are cut to it before they are compared.
type able struct {
	fraction int  // digits of a second's fraction
	zone     zone // what becomes of TIMESTAMP WITH TIME ZONE
}

// zone is what a client gives of a moment with its zone.
type zone int

const (
	zoneKept    zone = iota // wall time and offset
	zoneDropped             // wall time alone
	zoneUTC                 // the moment alone
)

func abilities() map[client]able {
	return map[client]able{
		goOra:       {9, zoneKept},
		python:      {6, zoneDropped}, // datetime has microseconds
		pythonArrow: {9, zoneDropped},
		node:        {3, zoneUTC}, // Date is milliseconds since 1970
		jdbc11:      {9, zoneKept},
		jdbc8:       {9, zoneKept},
	}
}

// plan is what a client program reads.
type plan struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Service  string `json:"service"`
	User     string `json:"user"`
	Password string `json:"password"`
	Steps    []step `json:"steps"`
}

// step is one thing that a client does.
type step struct {
	Do       string   `json:"do"`
	Session  int      `json:"session"`
	SQL      string   `json:"sql,omitempty"`
	Binds    []bind   `json:"binds,omitempty"`
	Rows     [][]bind `json:"rows,omitempty"`    // of a batch
	Lenient  bool     `json:"lenient,omitempty"` // a batch collects its errors
	Fetch    int      `json:"fetch,omitempty"`   // rows a round trip
	Cancel   bool     `json:"cancel,omitempty"`  // from another thread, while the server holds the call
	Locator  bool     `json:"locator,omitempty"` // LOBs by locators rather than as values
	Count    int      `json:"count,omitempty"`
	User     string   `json:"user,omitempty"`
	Password string   `json:"password,omitempty"`
	Service  string   `json:"service,omitempty"`
}

// bind is a bind value; Value nil is NULL.
type bind struct {
	Type  string  `json:"type"` // number, text, date, raw
	Value *string `json:"value"`
}

// answer is what a client saw of a step.
type answer struct {
	Columns  []string    `json:"columns"`
	Rows     [][]*string `json:"rows"`
	Affected int64       `json:"affected"`
	Errors   [][2]int    `json:"errors"` // of a batch: offset and code
	Error    int         `json:"error"`  // ORA code; negative: the client's own
	Position int         `json:"position"`
	Message  string      `json:"message"`
}

// patience bounds the run of a client. One that hangs is stopped, so that the test can say in which step it did.
const patience = 5 * time.Minute

// runner runs a client over a plan.
type runner func(plan) ([]answer, error)

// runners returns all clients.
func runners(t *testing.T) map[client]runner {
	t.Helper()
	c := rig.Oracle(t)
	classes := compile(t, c)
	program := func(args ...string) runner {
		return func(p plan) ([]answer, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Env = append(os.Environ(), "TZ=UTC", "NODE_PATH="+c.NodeModules)
			return ask(cmd, p)
		}
	}
	java := func(jar string) runner {
		return program(c.Java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
			"-cp", classes+string(filepath.ListSeparator)+jar, "Client")
	}
	return map[client]runner{
		goOra:       runGoOra,
		python:      program(c.Python, "clients/client.py"),
		pythonArrow: program(c.Python, "clients/client.py", "arrow"),
		node:        program(c.Node, "clients/client.js"),
		jdbc11:      java(c.OJDBC11),
		jdbc8:       java(c.OJDBC8),
	}
}

// compile compiles the JDBC client for the older of the two drivers; the newer one runs it too.
func compile(t *testing.T, c rig.OracleClients) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), c.Javac, "-nowarn", "-d", dir, "clients/Client.java")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile clients/Client.java: %v\n%s", err, out)
	}
	return dir
}

// ask runs a client program over a plan.
func ask(cmd *exec.Cmd, p plan) ([]answer, error) {
	input, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("run client: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	answers, parseErr := readAnswers(out)
	if err == nil {
		err = parseErr
	}
	return answers, err
}

func readAnswers(out []byte) ([]answer, error) {
	var answers []answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return answers, fmt.Errorf("answer %d: %w", len(answers)+1, err)
		}
		answers = append(answers, a)
	}
	return answers, lines.Err()
}
