package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sijms/go-ora/v2/network"

	"github.com/loadctl/loadctl/extract"
)

var errCfg = Config{Host: "db.example", Port: 1521, Service: "SALES", User: "LOADER"}

func TestFaultsOfTheDatabase(t *testing.T) {
	table := &extract.TableName{Schema: "APP", Name: "T"}
	for _, c := range []struct {
		code int
		msg  string
		is   error
		want string
	}{
		{1555, "ORA-01555: snapshot too old: rollback segment number 9", extract.ErrSnapshotTooOld, "start a new run"},
		{8181, "", extract.ErrSnapshotTooOld, "ORA-8181"},
		{1466, "", extract.ErrSnapshotTooOld, "DDL"},
		{1017, "ORA-01017: invalid username/password; logon denied", extract.ErrAuth, "LOADER@db.example:1521/SALES"},
		{28000, "", extract.ErrAuth, "ALTER USER LOADER ACCOUNT UNLOCK"},
		{942, "ORA-00942: table or view does not exist", extract.ErrNoTable, `GRANT SELECT, FLASHBACK ON "APP"."T" TO LOADER`},
		{1031, "", extract.ErrPrivilege, `GRANT SELECT, FLASHBACK ON "APP"."T" TO LOADER`},
		{904, `ORA-00904: "SEQQ": invalid identifier`, extract.ErrNoColumn, `"SEQQ"`},
		{12516, "", extract.ErrBusy, "max_sessions"},
		{18, "", extract.ErrBusy, "max_sessions"},
		{12514, "", extract.ErrUnreachable, "service"},
		{12505, "", extract.ErrUnreachable, "service"},
		{3113, "", extract.ErrUnreachable, "repeated"},
		{28, "", extract.ErrUnreachable, "killed"},
		{12801, "ORA-12801: error signaled in parallel query server P001\nORA-01555: snapshot too old", extract.ErrSnapshotTooOld, "ORA-12801"},
		{604, "ORA-00604: error occurred at recursive SQL level 1\nORA-01000: maximum open cursors exceeded", extract.ErrQuery, "ORA-01000"},
		{936, "ORA-00936: missing expression", extract.ErrQuery, "ORA-00936"},
	} {
		cause := &network.OracleError{ErrCode: c.code, ErrMsg: c.msg}
		err := errCfg.fault(context.Background(), "read T", table, fmt.Errorf("x: %w", cause))
		if !errors.Is(err, c.is) || !errors.Is(err, cause) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "read T: ") {
			t.Errorf("ORA-%d: %v; want %v with %q", c.code, err, c.is, c.want)
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "{") {
			t.Errorf("ORA-%d: %q is not one line with every name filled in", c.code, err)
		}
	}
}

func TestFaultsOfTheNetwork(t *testing.T) {
	for name, cause := range map[string]error{
		"end of file": io.EOF, "bad connection": driver.ErrBadConn, "closed": net.ErrClosed, "deadline": os.ErrDeadlineExceeded,
		"unknown host": &net.DNSError{Err: "no such host", Name: "db.example"}, "panic": errors.New("the driver panicked: index out of range"),
	} {
		if err := errCfg.fault(context.Background(), "read T", nil, cause); !errors.Is(err, extract.ErrUnreachable) || !errors.Is(err, cause) {
			t.Errorf("%s: %v, want ErrUnreachable", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("the run was cancelled")
	cancel(stop)
	if err := errCfg.fault(ctx, "read T", nil, net.ErrClosed); !errors.Is(err, stop) || errors.Is(err, extract.ErrUnreachable) {
		t.Errorf("after a cancel: %v, want its cause and nothing else", err)
	}
}

func TestPasswordStaysOutOfErrors(t *testing.T) {
	err := withoutSecret(errors.New(`parse "oracle://u:hunter2@h": invalid port`), "hunter2")
	if strings.Contains(err.Error(), "hunter2") {
		t.Fatalf("%v shows the password", err)
	}
	if strings.Contains(errCfg.String(), "hunter2") {
		t.Fatal("the name of the database shows the password")
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(Config{Port: 70000, Service: "A)(B=C"})
	for _, want := range []string{"host is empty", "user is empty", "no password", "port 70000", `service "A)(B=C"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want %q in it", err, want)
		}
	}
}
