package hive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
)

// wanted is a session variable that loadctl depends on.
type wanted struct {
	name, value string
	must        bool // the work would be wrong without it; otherwise a server may lack it
}

// sessionSettings make answers true and statements mean what they say, whatever the server's defaults.
var sessionSettings = []wanted{
	{"hive.compute.query.using.stats", "false", true},                    // count the rows, do not quote the metastore
	{"hive.support.quoted.identifiers", "column", true},                  // "none" makes a quoted name a regular expression
	{"hive.parquet.timestamp.skip.conversion", "true", true},             // INT96 that Hive did not write is wall clock already
	{"hive.query.results.cache.enabled", "false", false},                 // answers come from the files (Hive 3 and newer)
	{"hive.txn.ext.locking.enabled", "true", false},                      // INSERT OVERWRITE locks its external partition (Hive 4)
	{"hive.server2.thrift.resultset.serialize.in.tasks", "false", false}, // results in columns
}

// prepare puts the settings, then the site's own, into a new session.
func (w *Warehouse) prepare(ctx context.Context, s *hs2.Session) error {
	for _, v := range sessionSettings {
		if err := set(ctx, s, v.name, v.value); err != nil {
			if v.must || !isRefusal(err) {
				return err
			}
			w.log.DebugContext(ctx, "HiveServer2 does not take a setting", slog.String("setting", v.name), slog.Any("err", err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.cfg.Settings)) {
		if err := set(ctx, s, name, w.cfg.Settings[name]); err != nil {
			return err
		}
	}
	return nil
}

func isRefusal(err error) bool {
	var e *hs2.Error
	return errors.As(err, &e)
}

// set assigns a variable. A server may forbid that and have the value already, which is as good.
func set(ctx context.Context, s *hs2.Session, name, value string) error {
	_, err := run(ctx, s, assign(name, value))
	if err == nil || !isRefusal(err) {
		return err
	}
	if have, ok, askErr := ask(ctx, s, name); askErr == nil && ok && have == value {
		return nil
	}
	return fmt.Errorf("set %s=%s for the session: let the server allow it (hive.security.authorization.sqlstd.confwhitelist.append), or set it there: %w", name, value, err)
}

// ask reads a variable; ok is false where the server has none of that name.
func ask(ctx context.Context, s *hs2.Session, name string) (value string, ok bool, err error) {
	rows, err := run(ctx, s, setting(name))
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 {
		return "", false, err
	}
	value, ok = strings.CutPrefix(rows[0][0].Text, name+"=")
	return value, ok, nil
}

// checkSetting refuses a setting that would be more than one: Hive reads SET up to the end of the text.
func checkSetting(name, value string) error {
	if name == "" || strings.ContainsAny(name, " =\t\r\n;") || strings.ContainsAny(value, "\r\n;") {
		return fmt.Errorf("setting %q: not one name and one value", name)
	}
	for _, v := range sessionSettings {
		if v.name == name {
			return fmt.Errorf("setting %q: loadctl sets it itself, to %s", name, v.value)
		}
	}
	return nil
}

// run sends a statement, reads its whole answer and lets the server forget it.
func run(ctx context.Context, s *hs2.Session, statement string) ([][]hs2.Value, error) {
	o, err := s.Execute(ctx, statement, overlay(publish.Tag(ctx)))
	if err != nil {
		return nil, err
	}
	rows, err := result(ctx, o)
	closeErr := o.Close(context.WithoutCancel(ctx))
	return rows, cmp.Or(err, closeErr)
}

func result(ctx context.Context, o *hs2.Operation) ([][]hs2.Value, error) {
	if _, err := o.Wait(ctx, nil); err != nil {
		return nil, err
	}
	return o.Rows(ctx)
}

// overlay is the configuration of one statement: the tag that KILL QUERY finds it by.
func overlay(tag string) map[string]string {
	if tag == "" {
		return nil
	}
	return map[string]string{"hive.query.tag": tag}
}
