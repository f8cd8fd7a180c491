package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/loadctl/loadctl/stage"
)

// javaError is what the library returns for an exception of the NameNode.
type javaError struct{ class, message string }

func (e javaError) Method() string    { return "create" }
func (e javaError) Desc() string      { return "ERROR_APPLICATION" }
func (e javaError) Exception() string { return e.class }
func (e javaError) Message() string   { return e.message + "\n\tat org.apache.hadoop.Some.method" }
func (e javaError) Error() string {
	return "create call failed with ERROR_APPLICATION (" + e.class + ")"
}

func TestErrorsAreMapped(t *testing.T) {
	s, err := New(Options{NameNodes: []string{"nn1:8020", "nn2:8020"}, Nameservice: "lake", Root: "/stage", User: "loader"})
	if err != nil {
		t.Fatal(err)
	}
	path := func(err error) error { return &os.PathError{Op: "create", Path: "/stage/f", Err: err} }
	java := func(class, message string) error { return path(javaError{class, message}) }
	for _, tc := range []struct {
		name string
		err  error
		want error
		text string
	}{
		{"safe mode", java("org.apache.hadoop.hdfs.server.namenode.SafeModeException", "Cannot create file"), stage.ErrUnreachable, "-safemode leave"},
		{"starting", java("org.apache.hadoop.ipc.RetriableException", "NameNode still not started"), stage.ErrUnreachable, "wait"},
		{"standby", java("org.apache.hadoop.ipc.StandbyException", "not supported in state standby"), stage.ErrUnreachable, "active"},
		{"space quota", java("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", "The DiskSpace quota of /stage is exceeded"), stage.ErrNoSpace, "quota of /stage"},
		{"name quota", java("org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", "The NameSpace quota"), stage.ErrNoSpace, "-setQuota"},
		{"disks full", java("java.io.IOException", "File /f could only be written to 0 of the 1 minReplication nodes. There are 3 datanode(s) running and 3 node(s) are excluded"), stage.ErrNoSpace, "3 datanode(s)"},
		{"no datanode", java("java.io.IOException", "File /f could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running"), stage.ErrUnreachable, "start them"},
		{"permission", path(os.ErrPermission), stage.ErrPermission, "user loader"},
		{"permission, not mapped by the library", java("org.apache.hadoop.security.AccessControlException", "Permission denied: inode=/x"), stage.ErrPermission, "inode=/x"},
		{"exists", path(os.ErrExist), stage.ErrExist, ""},
		{"directory not empty", path(syscall.ENOTEMPTY), stage.ErrExist, ""},
		{"not there", path(os.ErrNotExist), stage.ErrNotExist, ""},
		{"lease gone", java("org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", "No lease on /f"), stage.ErrNotExist, "No lease on /f"},
		{"hung up", io.EOF, stage.ErrUnreachable, "Kerberos"},
		{"refused", errors.New("no available namenodes: dial tcp: connection refused"), stage.ErrUnreachable, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := s.wrap(context.Background(), "create", "f", tc.err)
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			for _, want := range []string{"create hdfs://lake/stage/f: ", tc.text} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if errors.Is(tc.want, stage.ErrUnreachable) && !strings.Contains(err.Error(), "NameNode") {
				t.Errorf("error %q does not name the NameNode", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q has a stack trace", err)
			}
		})
	}
}

// An exception that nobody knows gets no sentinel: it is not known whether it passes.
func TestUnknownExceptionStaysUnknown(t *testing.T) {
	s, err := New(Options{NameNodes: []string{"nn:8020"}, Root: "/", User: "loader"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.wrap(context.Background(), "rename", "f", javaError{"java.io.IOException", "rename failed for a reason"})
	for _, sentinel := range []error{stage.ErrExist, stage.ErrNotExist, stage.ErrPermission, stage.ErrUnreachable, stage.ErrNoSpace, stage.ErrMismatch} {
		if errors.Is(err, sentinel) {
			t.Errorf("%v counts as %v", err, sentinel)
		}
	}
	if want := "NameNode nn:8020 answers IOException: rename failed for a reason"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

func TestNewRefuses(t *testing.T) {
	good := Options{NameNodes: []string{"nn:8020"}, Root: "/stage", User: "loader"}
	for what, change := range map[string]func(*Options){
		"NameNode":  func(o *Options) { o.NameNodes = nil },
		"user":      func(o *Options) { o.User = "" },
		"root \"\"": func(o *Options) { o.Root = "" },
		"root \"s":  func(o *Options) { o.Root = "stage" },
		"root \"/a": func(o *Options) { o.Root = "/a/../b" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("New(%+v) returned %v, want a refusal of the %s", o, err, what)
		}
	}
}
