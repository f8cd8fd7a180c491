package sql

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// catalog is what the database knows: users, objects, grants. A DDL makes a changed copy of it, so that a
// compiled statement may keep what it found; the values in its maps are never changed in place either.
type catalog struct {
	version uint64 // raised by every change: compiled statements are for one version
	nextID  int    // of objects
	system  int    // last number of a SYS_C name
	users   map[string]user
	objects map[objectName]*object
	grants  map[objectName]map[string]map[string]grant // object, grantee, privilege
	granted map[string]map[string]bool                 // grantee, system privilege or role
}

type objectName struct{ owner, name string }

type user struct {
	name, password string
	id             int
	created        time.Time
	locked         bool
	badLogins      int // in a row
}

// grant is one object privilege given to somebody.
type grant struct {
	grantor   string
	grantable bool
}

// objectKind is OBJECT_TYPE in the dictionary.
type objectKind string

const (
	kindTable   objectKind = "TABLE"
	kindView    objectKind = "VIEW"
	kindSynonym objectKind = "SYNONYM"
	kindIndex   objectKind = "INDEX"
	kindType    objectKind = "TYPE"
)

// object is a table, view, synonym or index.
type object struct {
	objectName
	kind             objectKind
	id               int
	created, changed time.Time

	table        *store.Table    // kindTable
	organization string          // kindTable: INDEX, TEMPORARY or EXTERNAL; "" is a heap
	duration     string          // TEMPORARY: SYS$SESSION or SYS$TRANSACTION
	of           qualified       // organization OBJECT: its type
	made         *generate.Table // kindTable: its rows are computed
	columns      []column        // kindTable
	constraints  []constraint    // kindTable
	parts        *partitioning   // kindTable: nil when it has no partitions
	rowMovement  bool            // ENABLE ROW MOVEMENT

	query *selectStmt // kindView
	text  string      // kindView: as written
	names []string    // kindView: column names, when given

	target objectName // kindSynonym: what it stands for; kindIndex: its table
	keys   []string   // kindIndex: columns
	unique bool       // kindIndex
}

// column is a table's column.
type column struct {
	name        string
	typ         ora.Type
	notNull     bool
	byDefault   node          // nil: none
	defaultText string        // as written
	identity    string        // ALWAYS or BY DEFAULT: numbered by the system
	foreign     qualified     // a type of another schema, whose values are not known
	onNull      bool          // byDefault also where NULL is given
	next        *atomic.Int64 // identity: the number that comes next
	order       int           // where it stands among those that are shown; 0: in its place
	virtual     bool          // computed from others; byDefault is how
	invisible   bool          // not in SELECT * and INSERT without columns
}

// constraint is of type P, U or C (NOT NULL).
type constraint struct {
	name    string
	typ     string
	columns []string
	text    string // C: the condition
	named   bool   // by the user, not by the system
}

const public = "PUBLIC"

// roles are the roles that exist and the system privileges in each; "*" is every privilege.
func roles() map[string][]string {
	return map[string][]string{
		"DBA":                 {"*"},
		"CONNECT":             {"CREATE SESSION", "SET CONTAINER"},
		"RESOURCE":            {"CREATE TABLE", "CREATE SEQUENCE", "CREATE PROCEDURE", "CREATE TRIGGER", "CREATE TYPE"},
		"SELECT_CATALOG_ROLE": {"SELECT ANY DICTIONARY"},
	}
}

func newCatalog() *catalog {
	return &catalog{
		nextID:  71_000,
		system:  7_000,
		users:   map[string]user{},
		objects: map[objectName]*object{},
		grants:  map[objectName]map[string]map[string]grant{},
		granted: map[string]map[string]bool{},
	}
}

func (c *catalog) clone() *catalog {
	next := *c
	next.users, next.objects = maps.Clone(c.users), maps.Clone(c.objects)
	next.grants = make(map[objectName]map[string]map[string]grant, len(c.grants))
	for o, byGrantee := range c.grants {
		next.grants[o] = make(map[string]map[string]grant, len(byGrantee))
		for grantee, privileges := range byGrantee {
			next.grants[o][grantee] = maps.Clone(privileges)
		}
	}
	next.granted = make(map[string]map[string]bool, len(c.granted))
	for grantee, privileges := range c.granted {
		next.granted[grantee] = maps.Clone(privileges)
	}
	return &next
}

func (c *catalog) addUser(name, password string, now time.Time) {
	c.users[name] = user{name: name, password: password, id: 100 + len(c.users), created: now}
}

func (c *catalog) giveSystem(grantee, privilege string) {
	if c.granted[grantee] == nil {
		c.granted[grantee] = map[string]bool{}
	}
	c.granted[grantee][privilege] = true
}

// add enters an object under a new number.
func (c *catalog) add(o *object, now time.Time) {
	c.nextID++
	o.id, o.created, o.changed = c.nextID, now, now
	c.objects[o.objectName] = o
}

// systemName is a name for a constraint that has none.
func (c *catalog) systemName() string {
	c.system++
	return fmt.Sprintf("SYS_C%07d", c.system)
}

// hasPrivilege says whether a user has a system privilege, itself or by a role or PUBLIC.
func (c *catalog) hasPrivilege(name, privilege string) bool {
	return name == "SYS" || c.systemPrivileges(name)["*"] || c.systemPrivileges(name)[privilege]
}

// systemPrivileges are the system privileges of a user, those of its roles and of PUBLIC included.
func (c *catalog) systemPrivileges(name string) map[string]bool {
	all := map[string]bool{}
	inRole := roles()
	for _, grantee := range []string{name, public} {
		for p := range c.granted[grantee] {
			list, isRole := inRole[p]
			if !isRole {
				all[p] = true
			}
			for _, p := range list {
				all[p] = true
			}
		}
	}
	return all
}

// mayExecute says whether a user may call a package of SYS.
func (c *catalog) mayExecute(name, pkg string) bool {
	return c.hasPrivilege(name, "EXECUTE ANY PROCEDURE") || c.mayUse(name, "EXECUTE", objectName{"SYS", pkg})
}

func (c *catalog) userID(name string) int { return c.users[name].id }

// mayUse says whether a user has a privilege on an object: as its owner, by a grant, or by an ANY privilege.
func (c *catalog) mayUse(name, privilege string, o objectName) bool {
	if name == o.owner || c.hasPrivilege(name, anyPrivilege(privilege)) && o.owner != "SYS" {
		return true
	}
	for _, grantee := range []string{name, public} {
		byPrivilege := c.grants[o][grantee]
		if _, ok := byPrivilege[privilege]; ok {
			return true
		}
		if _, ok := byPrivilege["READ"]; ok && privilege == "SELECT" {
			return true
		}
	}
	return false
}

// sees says whether an object exists at all in a user's eyes: any privilege on it will do, except that
// FLASHBACK ANY TABLE alone shows nothing.
func (c *catalog) sees(name string, o objectName) bool {
	if len(c.grants[o][name]) > 0 || len(c.grants[o][public]) > 0 {
		return true
	}
	for _, p := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "ALTER"} {
		if c.mayUse(name, p, o) {
			return true
		}
	}
	return false
}

// anyPrivilege is the system privilege that gives an object privilege on everything.
func anyPrivilege(privilege string) string {
	return strings.ToUpper(privilege) + " ANY TABLE"
}
