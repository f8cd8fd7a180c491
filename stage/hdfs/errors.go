package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/stage"
)

var errIsDirectory = errors.New("it is a directory")

// wrap says what was tried where, and adds the port's sentinel and what to do.
func (s *Store) wrap(ctx context.Context, op, p string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the sockets were cut for it
		return fmt.Errorf("%s %s: %w", op, s.URI(p), context.Cause(ctx))
	}
	return fmt.Errorf("%s %s: %w", op, s.URI(p), s.classify(err))
}

// kind is what an exception of the NameNode means.
type kind struct {
	sentinel error
	hint     string
}

// exceptions of the NameNode, by the last part of their class name.
func exceptions() map[string]kind {
	const full = "make room, or raise the directory's quota (hdfs dfsadmin -setSpaceQuota, -setQuota)"
	return map[string]kind{
		"SafeModeException":                   {stage.ErrUnreachable, "the NameNode is in safe mode: wait, or end it by hdfs dfsadmin -safemode leave"},
		"StandbyException":                    {stage.ErrUnreachable, "the NameNode is in standby: list the active one too"},
		"RetriableException":                  {stage.ErrUnreachable, "the NameNode is starting or in safe mode: wait"},
		"RetryStartFileException":             {stage.ErrUnreachable, "try again"},
		"NotReplicatedYetException":           {stage.ErrUnreachable, "DataNodes are slow: try again"},
		"DSQuotaExceededException":            {stage.ErrNoSpace, full},
		"NSQuotaExceededException":            {stage.ErrNoSpace, full},
		"QuotaExceededException":              {stage.ErrNoSpace, full},
		"QuotaByStorageTypeExceededException": {stage.ErrNoSpace, full},
		"AccessControlException":              {stage.ErrPermission, ""},
		"AuthorizationException":              {stage.ErrPermission, ""},
		"FileNotFoundException":               {stage.ErrNotExist, ""},
		"LeaseExpiredException":               {stage.ErrNotExist, "the file was removed, or taken over by another writer"},
		"FileAlreadyExistsException":          {stage.ErrExist, ""},
		"AlreadyBeingCreatedException":        {stage.ErrExist, "another writer has it open"},
		"PathIsNotEmptyDirectoryException":    {stage.ErrExist, ""},
	}
}

// classify adds a sentinel to an error of the library.
func (s *Store) classify(err error) error {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		return s.classifyRemote(remote)
	}
	for _, m := range []struct{ library, port error }{
		{fs.ErrExist, stage.ErrExist},
		{syscall.ENOTEMPTY, stage.ErrExist},
		{fs.ErrNotExist, stage.ErrNotExist},
	} {
		if errors.Is(err, m.library) {
			return m.port
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return s.permission()
	case errors.Is(err, errIsDirectory), errors.Is(err, fs.ErrInvalid), errors.Is(err, errClosed), errors.Is(err, stage.ErrMismatch):
		return err
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s hung up: a NameNode that asks for Kerberos does so too: %w", stage.ErrUnreachable, s.nameNodes(), err)
	}
	// All that is left is the network, to the NameNode or to DataNodes, and what the library says of it.
	return fmt.Errorf("%w: NameNode %s or a DataNode does not answer: check the address, and that it runs: %w", stage.ErrUnreachable, s.nameNodes(), err)
}

func (s *Store) classifyRemote(remote hdfs.Error) error {
	class := remote.Exception()
	name := class[strings.LastIndexAny(class, ".$")+1:]
	message, _, _ := strings.Cut(remote.Message(), "\n")
	k, known := exceptions()[name]
	if !known {
		k = unplaced(message)
	}
	if errors.Is(k.sentinel, stage.ErrPermission) {
		return fmt.Errorf("%w: %s", s.permission(), message)
	}
	text := fmt.Sprintf("NameNode %s answers %s: %s", s.nameNodes(), name, message)
	if k.hint != "" {
		text += ": " + k.hint
	}
	if k.sentinel == nil {
		return errors.New(text)
	}
	return fmt.Errorf("%w: %s", k.sentinel, text)
}

// unplaced knows the one plain IOException that matters, by its words: the NameNode has no other.
func unplaced(message string) kind {
	if !strings.Contains(message, "could only be written to 0 of") {
		return kind{}
	}
	if strings.Contains(message, "There are 0 datanode(s) running") {
		return kind{stage.ErrUnreachable, "no DataNode runs: start them"}
	}
	return kind{stage.ErrNoSpace, "no DataNode takes the block: make room, or look whether they are up"}
}

func (s *Store) permission() error {
	return fmt.Errorf("%w: user %s on NameNode %s: give it the directory (hdfs dfs -chown %s DIR), or use another user", stage.ErrPermission, s.opt.User, s.nameNodes(), s.opt.User)
}

func (s *Store) nameNodes() string { return strings.Join(s.opt.NameNodes, ",") }
