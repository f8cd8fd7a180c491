package integration

import (
	"context"
	"strings"
	"sync"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// meddler is a store in which somebody else does something to the files, once, right before the first call of an
// operation on a path that contains a text.
type meddler struct {
	stage.Store
	op, path string
	meddle   func(s stage.Store) error

	once sync.Once
	err  error
}

func (m *meddler) at(op, path string) error {
	if op != m.op || !strings.Contains(path, m.path) {
		return nil
	}
	m.once.Do(func() { m.err = m.meddle(m.Store) })
	return m.err
}

func (m *meddler) Create(ctx context.Context, path string) (stage.File, error) {
	if err := m.at("create", path); err != nil {
		return nil, err
	}
	return m.Store.Create(ctx, path)
}

func (m *meddler) Open(ctx context.Context, path string) (stage.Content, error) {
	if err := m.at("open", path); err != nil {
		return nil, err
	}
	return m.Store.Open(ctx, path)
}

func (m *meddler) Rename(ctx context.Context, from, to string) error {
	if err := m.at("rename", to); err != nil {
		return err
	}
	return m.Store.Rename(ctx, from, to)
}

// otherStatement is a warehouse whose publish sessions send another publication than the one they were asked for.
type otherStatement struct {
	publish.Warehouse
	change func(ctx context.Context, p publish.Publication) (publish.Publication, error)
}

func (o *otherStatement) Open(ctx context.Context, tag string) (publish.Session, error) {
	s, err := o.Warehouse.Open(ctx, tag)
	return &otherSession{Session: s, change: o.change}, err
}

type otherSession struct {
	publish.Session
	change func(ctx context.Context, p publish.Publication) (publish.Publication, error)
}

func (s *otherSession) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
	p, err := s.change(ctx, p)
	if err != nil {
		return publish.Result{}, err
	}
	return s.Session.Publish(ctx, p, report)
}
