package oracle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle/ttc"
)

// thinClient is a session of our own client. It reads rows, and is set up, marked and identified like the driver's.
type thinClient struct {
	cfg     Config
	session *ttc.Session
}

func connectThin(ctx context.Context, cfg Config, password string) (*thinClient, error) {
	c := ttc.Config{
		Address: net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)), Service: cfg.Service, User: cfg.User, Password: password, Program: module,
	}
	if cfg.TLS != nil {
		c.TLS = cfg.tlsFor()
	}
	s, err := ttc.Connect(ctx, c)
	if errors.Is(err, ttc.ErrNoProof) {
		return nil, fmt.Errorf("%w: %w", extract.ErrAuth, err)
	}
	if err != nil {
		return nil, err
	}
	return &thinClient{cfg: cfg, session: s}, nil
}

func (t *thinClient) exec(ctx context.Context, text string, args ...string) error {
	t.session.SetPatience(t.cfg.ConnectTimeout)
	return t.session.Exec(ctx, text, strings.HasPrefix(text, "BEGIN"), args...)
}

// all is for what a session is asked before it reads: a server that is silent then is as good as none.
func (t *thinClient) all(ctx context.Context, text string, args ...string) ([][]string, error) {
	t.session.SetPatience(t.cfg.ConnectTimeout)
	return t.session.Texts(ctx, text, args...)
}

func (t *thinClient) broken() bool { return t.session.Broken() }

// close ends the session. Whether the server heard of it changes nothing for us.
func (t *thinClient) close() { _ = t.session.Close() }
