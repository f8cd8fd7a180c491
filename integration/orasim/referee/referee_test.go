package referee

import (
	"log/slog"
	"net"
	"strconv"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	user     = "app"
	password = "Tiger-10"
)

// TestReferees runs the checks in every client, all against servers of one kind, then some of them against servers of
// another. Each client has a server of its own: the checks change tables.
func TestReferees(t *testing.T) {
	all := runners(t)
	generated, err := generatedChecks()
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		config wire.Config
		checks []check
	}{
		"usual": {wire.Config{}, append(checks(), generated...)},
		// The older verifier, the native services exchange, small packets, replies with fewer rows than asked.
		"peculiar": {wire.Config{Verifier: wire.Verifier11g, ANO: true, MaxSDU: 2048, MaxReplyRows: 37}, peculiarChecks()},
	} {
		t.Run(kind, func(t *testing.T) {
			for name, run := range all {
				t.Run(string(name), func(t *testing.T) {
					t.Parallel()
					judge(t, name, run, c.config, c.checks)
				})
			}
		})
	}
}

// judge runs the checks that a client can be asked, and compares.
func judge(t *testing.T, name client, run runner, config wire.Config, checks []check) {
	var asked []check
	p := serve(t, config)
	for _, c := range checks {
		if _, cannot := c.not[name]; !cannot {
			asked = append(asked, c)
			p.Steps = append(p.Steps, c.step)
		}
	}
	answers, err := run(p)
	if err != nil {
		t.Errorf("stopped at step %d, %q: %v", len(answers), asked[min(len(answers), len(asked)-1)].name, err)
	}
	for i, c := range asked[:min(len(answers), len(asked))] {
		w := c.want
		if other, ok := c.but[name]; ok {
			w = other
		}
		for _, d := range w.differences(abilities()[name], answers[i]) {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if err == nil && len(answers) != len(asked) {
		t.Errorf("%d answers to %d steps", len(answers), len(asked))
	}
}

// serve starts a server with the tables of the checks.
func serve(t *testing.T, config wire.Config) plan {
	t.Helper()
	config.CommentFaults = true
	s, err := orasim.Start(orasim.Config{
		User: user, Password: password, Seed: seed(), Wire: config,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return plan{Host: host, Port: n, Service: s.Service(), User: user, Password: password}
}
