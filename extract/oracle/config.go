package oracle

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// Readers. Dictionary and control queries are the driver's always.
const (
	ReaderAuto   = "auto"   // ours, and the driver's for what ours does not do
	ReaderThin   = "thin"   // ours (package ttc); what it does not do is an error
	ReaderDriver = "driver" // go-ora's
)

// Config says how to reach a database and how much to take of it.
type Config struct {
	Host    string
	Port    int    // 0 means 1521
	Service string // service name, in any case
	// User is folded to upper case by the server unless it is in double quotes.
	User     string
	Password func() (string, error) // asked for at every login, so that a rotated one is picked up
	TLS      *tls.Config            // nil means TCP; otherwise TCPS

	MaxSessions int // sessions of this process at any time; 0 means 4

	// FetchBytes is how large one reply may become, by the declared width of the rows; 0 means 4 MiB. A session
	// holds one reply in memory.
	FetchBytes int

	// Reader is how rows are read: ReaderAuto (also ""), ReaderThin or ReaderDriver.
	Reader string

	ConnectTimeout time.Duration // for the whole login; 0 means 30 s
	IdleTimeout    time.Duration // an unused session is closed after this; 0 means 30 s

	Log *slog.Logger // nil discards
}

func (c Config) withDefaults() (Config, error) {
	c.Port = cmp.Or(c.Port, 1521)
	c.MaxSessions = cmp.Or(c.MaxSessions, 4)
	c.FetchBytes = cmp.Or(c.FetchBytes, 4<<20)
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 30*time.Second)
	c.Reader = cmp.Or(c.Reader, ReaderAuto)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, c.check()
}

func (c Config) check() error {
	var errs []error
	for what, value := range map[string]string{"host": c.Host, "service": c.Service, "user": c.User} {
		if value == "" {
			errs = append(errs, fmt.Errorf("oracle: %s is empty", what))
		}
	}
	// The service travels inside a connect descriptor, whose own signs would change what is connected to.
	if strings.ContainsAny(c.Service, "()=\x00") {
		errs = append(errs, fmt.Errorf("oracle: service %q has a character that no service name has", c.Service))
	}
	if c.Password == nil {
		errs = append(errs, errors.New("oracle: no password is configured"))
	}
	if c.Port < 1 || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("oracle: port %d is not between 1 and 65535", c.Port))
	}
	if c.Reader != ReaderAuto && c.Reader != ReaderThin && c.Reader != ReaderDriver {
		errs = append(errs, fmt.Errorf("oracle: reader %q is none of %s, %s, %s", c.Reader, ReaderAuto, ReaderThin, ReaderDriver))
	}
	if c.MaxSessions < 1 || c.FetchBytes < 1 {
		errs = append(errs, fmt.Errorf("oracle: %d sessions, %d bytes a fetch: neither may be below 1", c.MaxSessions, c.FetchBytes))
	}
	return errors.Join(errs...)
}

// String names the database for messages: user, address and service, never the password.
func (c Config) String() string {
	return fmt.Sprintf("%s@%s/%s", c.User, net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), c.Service)
}
