package main

import (
	"context"
	"io"
	"log/slog"
)

// logger writes the log that the packages below keep to stderr: one line an entry, prefixed as every other.
func (a *app) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		level = slog.LevelWarn // checkFlags has refused every other word
	}
	if a.json() {
		h := slog.NewJSONHandler(a.Err, &slog.HandlerOptions{Level: level, ReplaceAttr: jsonLogKeys})
		return slog.New(a.leaveOut(h)).With("schema", Schema, "message_type", "log")
	}
	return slog.New(a.leaveOut(slog.NewTextHandler(prefixed{a.Err}, &slog.HandlerOptions{Level: level, ReplaceAttr: textLogKeys})))
}

// leaveOut drops what the command itself reports, unless another level than the default was asked for.
func (a *app) leaveOut(h slog.Handler) slog.Handler {
	if a.logLevel == defaultLogLevel {
		return reported{h}
	}
	return h
}

// defaultLogLevel shows warnings: a step or a partition that will be tried again.
const defaultLogLevel = "warn"

// reported drops errors that have a class: they end the run (a daemon's log has no other word of it), and the command
// ends with them as its own error.
type reported struct{ slog.Handler }

func (h reported) Handle(ctx context.Context, r slog.Record) error {
	classified := false
	r.Attrs(func(at slog.Attr) bool {
		classified = classified || at.Key == "class"
		return !classified
	})
	if r.Level >= slog.LevelError && classified {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h reported) WithAttrs(attrs []slog.Attr) slog.Handler {
	return reported{h.Handler.WithAttrs(attrs)}
}
func (h reported) WithGroup(name string) slog.Handler { return reported{h.Handler.WithGroup(name)} }

// textLogKeys gives a log line the clock of the other lines.
func textLogKeys(_ []string, at slog.Attr) slog.Attr {
	if at.Key == slog.TimeKey {
		return slog.String(slog.TimeKey, clockTime(at.Value.Time()))
	}
	return at
}

func jsonLogKeys(_ []string, at slog.Attr) slog.Attr {
	switch at.Key {
	case slog.MessageKey:
		at.Key = "message"
	case slog.TimeKey:
		return slog.String(slog.TimeKey, stamp(at.Value.Time()))
	}
	return at
}

// prefixed puts the program's name before each write, which slog makes one a line.
type prefixed struct{ w io.Writer }

func (p prefixed) Write(line []byte) (int, error) {
	if _, err := p.w.Write(append([]byte("loadctl: "), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
