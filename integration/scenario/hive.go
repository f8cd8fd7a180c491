package scenario

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/loadctl/loadctl/publish/hive/hs2"
)

// Hive runs statements on the stack's HiveServer2, in one session, and returns the rows of the last one, NULLs as Null.
func (w *World) Hive(ctx context.Context, statements ...string) (rows [][]string, err error) {
	h := w.Stack.Hive
	s, err := hs2.Open(ctx, hs2.Config{
		Address: net.JoinHostPort(h.Host, strconv.Itoa(h.Port)), Auth: hs2.Auth(h.Auth), User: h.User, Password: h.Password,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	for _, text := range statements {
		if rows, err = query(ctx, s, text); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return rows, nil
}

func query(ctx context.Context, s *hs2.Session, text string) (rows [][]string, err error) {
	op, err := s.Execute(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, op.Close(context.WithoutCancel(ctx))) }()
	if _, err := op.Wait(ctx, nil); err != nil {
		return nil, err
	}
	values, err := op.Rows(ctx)
	for _, row := range values {
		line := make([]string, len(row))
		for i, v := range row {
			if line[i] = Null; !v.Null {
				line[i] = v.Text
			}
		}
		rows = append(rows, line)
	}
	return rows, err
}

// prepareHive makes the database of the world.
func (w *World) prepareHive(ctx context.Context) error {
	_, err := w.Hive(ctx, "CREATE DATABASE IF NOT EXISTS `"+w.Name+"`")
	return err
}

// dropHive removes the database of the world.
func (w *World) dropHive(ctx context.Context) error {
	_, err := w.Hive(ctx, "DROP DATABASE IF EXISTS `"+w.Name+"` CASCADE")
	return err
}
