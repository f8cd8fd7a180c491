package sql

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// Config describes an instance. Every field may be left zero; the comment says what it is then.
type Config struct {
	Name           string           // ORASIM: V$DATABASE.NAME
	UniqueName     string           // Name: DB_UNIQUE_NAME
	DBID           uint32           // 1450000001
	Container      string           // ORASIMPDB1: the pluggable database that sessions are in
	ContainerID    int              // 3
	Services       []string         // Container and Name: service names and SIDs that are served
	Release        string           // 19.0.0.0.0
	Host           string           // orasim
	SystemPassword string           // "manager": of SYS and SYSTEM
	MaxSessions    int              // 472: one more is ORA-00018
	MaxBadLogins   int              // 10: so many wrong passwords in a row lock an account
	Zone           int              // the server's zone (SYSDATE, SYSTIMESTAMP) in minutes east of UTC
	Now            func() time.Time // time.Now
	Store          store.Options    // Now is set from here
}

func (c Config) withDefaults() Config {
	c.Name = strings.ToUpper(cmp.Or(c.Name, "ORASIM"))
	c.UniqueName = cmp.Or(c.UniqueName, c.Name)
	c.DBID = cmp.Or(c.DBID, 1450000001)
	c.Container = strings.ToUpper(cmp.Or(c.Container, "ORASIMPDB1"))
	c.ContainerID = cmp.Or(c.ContainerID, 3)
	if len(c.Services) == 0 {
		c.Services = []string{c.Container, c.Name}
	}
	c.Release = cmp.Or(c.Release, "19.0.0.0.0")
	c.Host = cmp.Or(c.Host, "orasim")
	c.SystemPassword = cmp.Or(c.SystemPassword, "manager")
	c.MaxSessions = cmp.Or(c.MaxSessions, 472)
	c.MaxBadLogins = cmp.Or(c.MaxBadLogins, 10)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Store.Now = c.Now
	return c
}

// Database is an instance with one database: catalog, data, sessions. It implements ora.Backend.
type Database struct {
	cfg     Config
	store   *store.Store
	started time.Time

	functions  map[string]function
	dictionary map[string]*dictView

	cat      atomic.Pointer[catalog] // replaced by every change, never changed in place
	changing sync.Mutex              // held by whoever replaces it

	sessions sessionTable
}

// New starts an empty instance with the users SYS and SYSTEM.
func New(cfg Config) *Database {
	cfg = cfg.withDefaults()
	d := &Database{cfg: cfg, store: store.New(cfg.Store), started: cfg.Now(), functions: functionTable()}
	d.dictionary = dictionaryViews(d)
	cat := newCatalog()
	for _, name := range []string{"SYS", "SYSTEM"} {
		cat.addUser(name, cfg.SystemPassword, d.started)
		cat.giveSystem(name, "DBA")
	}
	d.cat.Store(cat)
	return d
}

// catalog is the catalog of now; what is in it never changes.
func (d *Database) catalog() *catalog { return d.cat.Load() }

// change replaces the catalog by a changed copy, unless the change fails.
func (d *Database) change(fn func(c *catalog) error) error {
	d.changing.Lock()
	defer d.changing.Unlock()
	next := d.catalog().clone()
	if err := fn(next); err != nil {
		return err
	}
	next.version++
	d.cat.Store(next)
	return nil
}

// Store is the data, for tests that want the journal or to forget undo.
func (d *Database) Store() *store.Store { return d.store }

// Accepts says whether a service name or SID is served.
func (d *Database) Accepts(service string) bool {
	return slices.ContainsFunc(d.cfg.Services, func(s string) bool { return strings.EqualFold(s, service) })
}

// Password returns a user's password.
func (d *Database) Password(user string) (string, bool) {
	u, ok := d.catalog().users[user]
	return u.password, ok
}

// LoginFailed counts a wrong password; too many in a row lock the account.
func (d *Database) LoginFailed(user string) {
	_ = d.change(func(c *catalog) error { // an unknown user is no error here: the wire answers the same to all
		if u, ok := c.users[user]; ok {
			u.badLogins++
			u.locked = u.locked || u.badLogins >= d.cfg.MaxBadLogins
			c.users[user] = u
		}
		return nil
	})
}

// Connect opens a session for a user whose password was right.
func (d *Database) Connect(l ora.Login) (ora.Session, error) {
	s, err := d.Open(l)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Open is Connect for seeds and tests, which want the engine's own type.
func (d *Database) Open(l ora.Login) (*Session, error) {
	c := d.catalog()
	u, ok := c.users[l.User]
	switch {
	case !ok:
		return nil, ora.Errorf(1017, "invalid username/password; logon denied")
	case u.locked:
		return nil, ora.Errorf(28000, "The account is locked.")
	case !c.hasPrivilege(u.name, "CREATE SESSION"):
		return nil, ora.Errorf(1045, "user %s lacks CREATE SESSION privilege; logon denied", u.name)
	}
	if u.badLogins > 0 {
		if err := d.change(func(c *catalog) error {
			u.badLogins = 0
			c.users[u.name] = u
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return d.sessions.open(d, l)
}
