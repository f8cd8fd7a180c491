package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// app is one invocation: its streams and the flags that every verb has.
type app struct {
	Process
	screen *screen // all that goes to Err passes through it
	now    func() time.Time

	configFile string
	output     string // "table" or "json"
	color      string // "auto", "always" or "never"
	quiet      bool
	logLevel   string
}

func newApp(p Process) *app {
	s := &screen{w: p.Err}
	p.Err = s
	return &app{Process: p, screen: s, now: time.Now}
}

const rootExample = `  loadctl check                                         is the configuration right?
  loadctl plan --job INSP_DTL --date 2026-09-28         what would a run do? (nothing is written)
  loadctl run  --job INSP_DTL --date yesterday          do it, and wait for its end
  loadctl status INSP_DTL/2026-09-28                    did it land? all of it? once?
  loadctl list --problem                                what needs a person?
  loadctl resume INSP_DTL/2026-09-28                    its process was killed: go on with it`

// rootCommand assembles the verbs.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "loadctl",
		Short:         "Load Oracle tables into Hive: what Oracle held at one instant, once, provably",
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.checkFlags()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs, // RunE says what is wrong, with a suggestion
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetVersionTemplate("loadctl {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVarP(&a.configFile, "config", "c", orElse(a.Getenv("LOADCTL_CONFIG"), defaultConfig()), "daemon file; also LOADCTL_CONFIG")
	f.StringVarP(&a.output, "output", "o", orElse(a.Getenv("LOADCTL_OUTPUT"), "table"), "table or json; also LOADCTL_OUTPUT")
	f.StringVar(&a.color, "color", "auto", "auto, always or never; auto heeds NO_COLOR and TERM=dumb")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress, only the result and errors")
	f.StringVar(&a.logLevel, "log-level", defaultLogLevel, "least level of the log on stderr: debug, info, warn or error")
	verbs := []*cobra.Command{
		a.runCommand(), a.planCommand(), a.statusCommand(), a.listCommand(), a.waitCommand(), a.eventsCommand(),
		a.resumeCommand(), a.cancelCommand(), a.reissueCommand(), a.resendCommand(), a.reconcileCommand(), a.resolveCommand(),
		a.verifyCommand(), a.cleanCommand(), recoveryTopic(),
		a.checkCommand(), a.jobsCommand(), a.migrateCommand(), a.schemaCommand(), a.versionCommand(), exitTopic(),
	}
	for _, v := range verbs {
		a.completeFlags(v)
	}
	root.AddCommand(verbs...)
	return root
}

func unknownVerb(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2
	err := usage("unknown command %q", word)
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return withHint(err, "did you mean "+strings.Join(near, " or ")+"?")
	}
	return withHint(err, "loadctl --help lists the commands")
}

// flagError names the command whose flag it was, and suggests a near one.
func flagError(cmd *cobra.Command, err error) error {
	word, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return withHint(usage("%v", err), cmd.CommandPath()+" --help lists its flags")
	}
	names := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra suggests commands only: flags as commands, then
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	text := fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), word)
	if near := names.SuggestionsFor(word); len(near) > 0 {
		return withHint(usage("%s", text), "did you mean --"+strings.Join(near, " or --")+"?")
	}
	return withHint(usage("%s", text), cmd.CommandPath()+" --help lists its flags")
}

func (a *app) checkFlags() error {
	return errors.Join(
		oneOf("output", a.output, "table", "json"),
		oneOf("log-level", a.logLevel, "debug", "info", "warn", "error"),
		oneOf("color", a.color, "auto", "always", "never"),
	)
}

func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return usage("--%s %s: want %s", flag, value, strings.Join(words, ", "))
}

// defaultConfig is the file that is read when none is named: the one here, else the host's.
func defaultConfig() string {
	if _, err := os.Stat("loadd.yaml"); err == nil {
		return "loadd.yaml"
	}
	return "/etc/loadctl/loadd.yaml"
}

func orElse(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// version is what the build says of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func (a *app) json() bool { return a.output == "json" }

// load reads the configuration and prints its warnings.
func (a *app) load() (*config.Config, error) {
	cfg, err := config.Load(a.configFile)
	if err != nil {
		return nil, configError(err)
	}
	for _, w := range cfg.Warnings {
		a.note("warning: %s", w)
	}
	return cfg, nil
}

// open reads the configuration and connects to the ledger.
func (a *app) open(ctx context.Context) (*config.Config, *ledger.Ledger, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	l, err := wire.Ledger(ctx, cfg, a.logger())
	return cfg, l, err
}

// find opens the ledger and reads the run that a person means. The ledger is the caller's to close unless err is not nil.
func (a *app) find(ctx context.Context, ref string) (*ledger.Ledger, ledger.Run, error) {
	_, l, run, err := a.findWith(ctx, ref)
	return l, run, err
}

// findWith is find, with the configuration.
func (a *app) findWith(ctx context.Context, ref string) (*config.Config, *ledger.Ledger, ledger.Run, error) {
	cfg, l, err := a.open(ctx)
	if err != nil {
		return nil, nil, ledger.Run{}, err
	}
	run, err := l.Find(ctx, ref)
	if err != nil {
		l.Close()
		return nil, nil, run, findError(ref, err)
	}
	return cfg, l, run, nil
}

// with does something with all that the configuration names, and then ends every connection. Nothing but the ledger is
// connected to before it is asked something.
func (a *app) with(ctx context.Context, cfg *config.Config, do func(env *pipeline.Env) error) (err error) {
	l, err := wire.Ledger(ctx, cfg, a.logger())
	if err != nil {
		return err
	}
	defer l.Close()
	env, closeEnv, err := wire.Env(ctx, cfg, l, a.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEnv()) }()
	return do(env)
}

// findError says which runs an ambiguous reference could mean.
func findError(ref string, err error) error {
	var several *ledger.AmbiguousError
	switch {
	case errors.As(err, &several):
		names := make([]string, len(several.Runs))
		for i, r := range several.Runs {
			names[i] = fmt.Sprintf("%s (%s)", r.Handle(), r.ID)
		}
		return withHint(usage("%q could be %d runs: %s", ref, len(names), strings.Join(names, ", ")), "give more digits of its id, or JOB/DATE#N")
	case errors.Is(err, ledger.ErrNoRun):
		return &failure{err: err, text: fmt.Sprintf("no run %q", ref)}
	case errors.Is(err, ledger.ErrInvalid):
		return withHint(usage("%q names no run: want an id, its last 4 or more digits, JOB/DATE, JOB/DATE#N or latest", ref), "loadctl list")
	}
	return err
}

// note prints a line for the person at the terminal or the reader of a log, unless asked not to.
func (a *app) note(format string, args ...any) {
	if !a.quiet && !a.json() {
		a.line(format, args...)
	}
}

// line prints a line to stderr, in quiet mode too.
func (a *app) line(format string, args ...any) { fmt.Fprintf(a.Err, "loadctl: "+format+"\n", args...) }

// say prints a line of the result.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.Out, format+"\n", args...) }

// noArgs and oneRun say what is wrong with the arguments in our words.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return withHint(usage("%s takes no argument, got %q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help")
	}
	return nil
}

func oneRun(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return withHint(usage("%s wants one run: an id, its last 4 or more digits, JOB/DATE, JOB/DATE#N or latest", cmd.CommandPath()), "loadctl list")
	}
	return nil
}

// resolve fills a job in for a date.
func resolve(cfg *config.Config, name, date string, now time.Time) (config.Resolved, error) {
	job, err := cfg.Job(name)
	if err != nil {
		return config.Resolved{}, withHint(usage("%v", err), "loadctl jobs lists them")
	}
	day, err := config.ParseDate(date, now, job.Timezone.Location())
	if err != nil {
		return config.Resolved{}, usage("--date: %v", err)
	}
	r, err := cfg.Resolve(name, day)
	if err != nil {
		return r, fmt.Errorf("%w: %w", pipeline.ErrUsage, err)
	}
	return r, nil
}

// required refuses a flag that was left out, before anything is read.
func required(flags ...[2]string) error {
	for _, f := range flags {
		if f[1] == "" {
			return usage("--%s is missing", f[0])
		}
	}
	return nil
}
