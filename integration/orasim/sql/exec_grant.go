package sql

import (
	"slices"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// systemPrivilegeNames are the system privileges that can be granted.
func systemPrivilegeNames() []string {
	names := []string{
		"CREATE SESSION", "ALTER SESSION", "SET CONTAINER", "CREATE USER", "ALTER USER", "DROP USER", "ALTER SYSTEM",
		"SELECT ANY DICTIONARY", "FLASHBACK ANY TABLE", "GRANT ANY PRIVILEGE", "GRANT ANY ROLE",
		"GRANT ANY OBJECT PRIVILEGE", "EXECUTE ANY PROCEDURE", "UNLIMITED TABLESPACE", "CREATE SEQUENCE",
		"CREATE PROCEDURE", "CREATE TRIGGER", "CREATE TYPE", "CREATE PUBLIC SYNONYM", "SELECT ANY TRANSACTION",
	}
	for _, verb := range []string{"SELECT", "READ", "INSERT", "UPDATE", "DELETE", "ALTER", "DROP", "LOCK", "CREATE"} {
		names = append(names, verb+" ANY TABLE")
	}
	for _, kind := range []string{"TABLE", "VIEW", "SYNONYM"} {
		names = append(names, "CREATE "+kind, "CREATE ANY "+kind, "DROP ANY "+kind)
	}
	return append(names, "CREATE ANY INDEX", "DROP ANY INDEX")
}

func objectPrivilegeNames() []string {
	return []string{"SELECT", "READ", "INSERT", "UPDATE", "DELETE", "ALTER", "INDEX", "REFERENCES", "FLASHBACK", "EXECUTE"}
}

// isPackage knows the packages of SYS that EXECUTE can be granted on.
func isPackage(name string) bool {
	switch name {
	case "DBMS_FLASHBACK", "DBMS_APPLICATION_INFO", "DBMS_SESSION", "DBMS_LOCK", "DBMS_ROWID", "DBMS_METADATA", "DBMS_STATS":
		return true
	}
	return false
}

// grant runs GRANT and REVOKE.
func (s *Session) grant(c *catalog, g *grantStmt) error {
	for _, grantee := range g.grantees {
		if _, ok := c.users[grantee]; !ok && grantee != public {
			return ora.Errorf(1917, "user or role '%s' does not exist", grantee)
		}
	}
	if g.on == nil {
		return s.grantSystem(c, g)
	}
	on, err := s.grantTarget(c, *g.on)
	if err != nil {
		return err
	}
	privileges := g.privileges
	if slices.Equal(privileges, []string{"ALL"}) || slices.Equal(privileges, []string{"ALL PRIVILEGES"}) {
		privileges = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "ALTER", "INDEX", "REFERENCES", "FLASHBACK"}
	}
	for _, p := range privileges {
		if !slices.Contains(objectPrivilegeNames(), p) {
			return ora.Errorf(990, "missing or invalid privilege")
		}
		for _, grantee := range g.grantees {
			if g.revoke {
				delete(c.grants[on][grantee], p)
				continue
			}
			c.giveObject(on, grantee, p, grant{s.user, g.option})
		}
	}
	return nil
}

func (c *catalog) giveObject(on objectName, grantee, privilege string, g grant) {
	if c.grants[on] == nil {
		c.grants[on] = map[string]map[string]grant{}
	}
	if c.grants[on][grantee] == nil {
		c.grants[on][grantee] = map[string]grant{}
	}
	c.grants[on][grantee][privilege] = g
}

func (s *Session) grantSystem(c *catalog, g *grantStmt) error {
	for _, p := range g.privileges {
		_, isRole := roles()[p]
		if !isRole && !slices.Contains(systemPrivilegeNames(), p) && p != "ALL PRIVILEGES" {
			if strings.Contains(p, " ") {
				return ora.Errorf(990, "missing or invalid privilege")
			}
			return ora.Errorf(1919, "role '%s' does not exist", p)
		}
		if !c.hasPrivilege(s.user, "GRANT ANY PRIVILEGE") {
			return ora.Errorf(1031, "insufficient privileges")
		}
		if p == "ALL PRIVILEGES" {
			p = "DBA"
		}
		for _, grantee := range g.grantees {
			if g.revoke {
				if !c.granted[grantee][p] {
					return ora.Errorf(1952, "system privileges not granted to '%s'", grantee)
				}
				delete(c.granted[grantee], p)
				continue
			}
			c.giveSystem(grantee, p)
		}
	}
	return nil
}

// grantTarget is the object of a grant: a table or view, a dictionary view, or a package of SYS.
func (s *Session) grantTarget(c *catalog, q qualified) (objectName, error) {
	name := objectName{s.schema, q.name}
	if q.schema != "" {
		name.owner = q.schema
	}
	dba := c.hasPrivilege(s.user, "GRANT ANY OBJECT PRIVILEGE")
	if o := c.objects[name]; o != nil && (dba || c.sees(s.user, name)) {
		if o.kind == kindSynonym {
			name = o.target
		}
		if dba || name.owner == s.user || c.mayGrant(s.user, name) {
			return name, nil
		}
		return name, ora.Errorf(1031, "insufficient privileges")
	}
	if q.schema == "" || q.schema == "SYS" {
		view := strings.Replace(q.name, "V_$", "V$", 1)
		if s.db.dictionary[view] != nil || isPackage(q.name) {
			if view == q.name && strings.HasPrefix(q.name, "V$") {
				return name, ora.Errorf(2030, "can only select from fixed tables/views")
			}
			if !dba {
				return name, ora.Errorf(1031, "insufficient privileges")
			}
			return objectName{"SYS", q.name}, nil
		}
	}
	return name, errAt(q.at(), 942, "table or view does not exist")
}

// mayGrant says whether somebody got a privilege on an object with the right to pass it on.
func (c *catalog) mayGrant(name string, o objectName) bool {
	for _, g := range c.grants[o][name] {
		if g.grantable {
			return true
		}
	}
	return false
}
