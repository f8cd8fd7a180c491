package sql

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// privilegeViews are the views of grants.
func privilegeViews(all map[string]*dictView) {
	all["SESSION_PRIVS"] = view("PRIVILEGE:40", func(q *dictQuery) {
		have := q.cat.systemPrivileges(q.ses.user)
		for _, p := range slices.Sorted(slices.Values(systemPrivilegeNames())) {
			if have[p] || have["*"] || q.ses.user == "SYS" {
				q.add(p)
			}
		}
	})
	all["SESSION_ROLES"] = view("ROLE", func(q *dictQuery) {
		for _, p := range sortedKeys(q.cat.granted[q.ses.user]) {
			if _, isRole := roles()[p]; isRole {
				q.add(p)
			}
		}
	})
	all["USER_SYS_PRIVS"] = view("USERNAME PRIVILEGE:40 ADMIN_OPTION:3", func(q *dictQuery) {
		for _, p := range sortedKeys(q.cat.granted[q.ses.user]) {
			if _, isRole := roles()[p]; !isRole {
				q.add(q.ses.user, p, "NO")
			}
		}
	})
	all["USER_ROLE_PRIVS"] = view("USERNAME GRANTED_ROLE ADMIN_OPTION:3 DEFAULT_ROLE:3", func(q *dictQuery) {
		for _, p := range sortedKeys(q.cat.granted[q.ses.user]) {
			if _, isRole := roles()[p]; isRole {
				q.add(q.ses.user, p, "NO", "YES")
			}
		}
	})
	all["ROLE_SYS_PRIVS"] = view("ROLE PRIVILEGE:40 ADMIN_OPTION:3", func(q *dictQuery) {
		for _, r := range sortedKeys(roles()) {
			if !q.cat.granted[q.ses.user][r] {
				continue
			}
			for _, p := range roles()[r] {
				if p != "*" {
					q.add(r, p, "NO")
				}
			}
		}
	})
	all["USER_TAB_PRIVS"] = view("GRANTEE OWNER TABLE_NAME GRANTOR PRIVILEGE:40 GRANTABLE:3", func(q *dictQuery) {
		q.eachGrant(func(o objectName, grantee, privilege string, g grant) {
			if me := q.ses.user; grantee == me || o.owner == me || g.grantor == me {
				q.add(grantee, o.owner, o.name, g.grantor, privilege, yesNo(g.grantable))
			}
		})
	})
	grants := func(everything bool) func(q *dictQuery) {
		return func(q *dictQuery) {
			q.eachGrant(func(o objectName, grantee, privilege string, g grant) {
				if me := q.ses.user; everything || grantee == me || grantee == public || o.owner == me || g.grantor == me {
					q.add(g.grantor, grantee, o.owner, o.name, privilege, yesNo(g.grantable))
				}
			})
		}
	}
	all["ALL_TAB_PRIVS"] = view("GRANTOR GRANTEE TABLE_SCHEMA TABLE_NAME PRIVILEGE:40 GRANTABLE:3", grants(false))
	all["DBA_TAB_PRIVS"] = restrictedView("GRANTOR GRANTEE OWNER TABLE_NAME PRIVILEGE:40 GRANTABLE:3", grants(true))
	all["DBA_SYS_PRIVS"] = restrictedView("GRANTEE PRIVILEGE:40 ADMIN_OPTION:3", func(q *dictQuery) {
		for _, grantee := range sortedKeys(q.cat.granted) {
			for _, p := range sortedKeys(q.cat.granted[grantee]) {
				if _, isRole := roles()[p]; !isRole {
					q.add(grantee, p, "NO")
				}
			}
		}
	})
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// eachGrant visits the object grants in order.
func (q *dictQuery) eachGrant(fn func(o objectName, grantee, privilege string, g grant)) {
	names := slices.SortedFunc(maps.Keys(q.cat.grants), func(a, b objectName) int {
		return cmp.Or(strings.Compare(a.owner, b.owner), strings.Compare(a.name, b.name))
	})
	for _, o := range names {
		for _, grantee := range sortedKeys(q.cat.grants[o]) {
			for _, p := range sortedKeys(q.cat.grants[o][grantee]) {
				fn(o, grantee, p, q.cat.grants[o][grantee][p])
			}
		}
	}
}
