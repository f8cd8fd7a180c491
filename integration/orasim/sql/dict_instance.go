package sql

import (
	"fmt"
	"strconv"
	"time"
)

// instanceViews are the V$ views and those of versions and NLS settings.
func instanceViews(all map[string]*dictView, d *Database) {
	cfg := &d.cfg
	all["V$DATABASE"] = restrictedView("DBID#n NAME:9 CREATED#d LOG_MODE:12 OPEN_MODE:20 DATABASE_ROLE:16 DB_UNIQUE_NAME:30 "+
		"CURRENT_SCN#n PLATFORM_NAME:101 FLASHBACK_ON:18 CDB:3 CON_ID#n CON_DBID#n RESETLOGS_CHANGE##n", func(q *dictQuery) {
		q.add(uint64(cfg.DBID), cfg.Name, d.started, "ARCHIVELOG", "READ WRITE", "PRIMARY", cfg.UniqueName, d.store.SCN(),
			"Linux x86 64-bit", "NO", "YES", cfg.ContainerID, uint64(cfg.DBID), 1)
	})
	all["V$INSTANCE"] = restrictedView("INSTANCE_NUMBER#n INSTANCE_NAME:16 HOST_NAME:64 VERSION:17 VERSION_FULL:17 STARTUP_TIME#d "+
		"STATUS:12 PARALLEL:3 THREAD#n ARCHIVER:7 LOGINS:10 DATABASE_STATUS:17 INSTANCE_ROLE:18 ACTIVE_STATE:9 CON_ID#n EDITION:7",
		func(q *dictQuery) {
			q.add(1, cfg.Name, cfg.Host, cfg.Release, cfg.Release, d.started, "OPEN", "NO", 1, "STARTED", "ALLOWED", "ACTIVE",
				"PRIMARY_INSTANCE", "NORMAL", 0, "EE")
		})
	all["V$SESSION"] = restrictedView("SID#n SERIAL##n AUDSID#n USER##n USERNAME STATUS:8 SCHEMANAME OSUSER PROCESS:24 MACHINE:64 "+
		"TERMINAL:30 PROGRAM:84 TYPE:10 MODULE:64 ACTION:64 CLIENT_INFO:64 CLIENT_IDENTIFIER:64 LOGON_TIME#d SERVICE_NAME:64 CON_ID#n",
		listSessions)
	all["V$PARAMETER"] = restrictedView("NUM#n NAME:80 TYPE#n VALUE:4000 DISPLAY_VALUE:4000 ISDEFAULT:9 CON_ID#n", func(q *dictQuery) {
		listParameters(q, d)
	})
	all["V$UNDOSTAT"] = restrictedView("BEGIN_TIME#d END_TIME#d UNDOTSN#n UNDOBLKS#n TXNCOUNT#n MAXQUERYLEN#n SSOLDERRCNT#n "+
		"TUNED_UNDORETENTION#n CON_ID#n", func(q *dictQuery) {
		now := cfg.Now()
		q.add(now.Add(-10*time.Minute), now, 2, 0, 0, 0, 0, undoRetention(d), cfg.ContainerID)
	})
	tablespaces := func(q *dictQuery) {
		q.add("USERS", blockSize, "ONLINE", "PERMANENT", "NOT APPLY")
		q.add("UNDOTBS1", blockSize, "ONLINE", "UNDO", "NOGUARANTEE")
		q.add("TEMP", blockSize, "ONLINE", "TEMPORARY", "NOT APPLY")
	}
	spec := "TABLESPACE_NAME:30 BLOCK_SIZE#n STATUS:9 CONTENTS:21 RETENTION:11"
	all["DBA_TABLESPACES"], all["USER_TABLESPACES"] = restrictedView(spec, tablespaces), view(spec, tablespaces)
	all["V$PDBS"] = restrictedView("CON_ID#n DBID#n NAME OPEN_MODE:10 RESTRICTED:3", func(q *dictQuery) {
		q.add(cfg.ContainerID, uint64(cfg.DBID)+1, cfg.Container, "READ WRITE", "NO")
	})
	banner := "Oracle Database 19c Enterprise Edition Release " + cfg.Release + " - Production"
	all["V$VERSION"] = view("BANNER:80 BANNER_FULL:160 BANNER_LEGACY:80 CON_ID#n", func(q *dictQuery) {
		q.add(banner, banner+"\nVersion "+cfg.Release, banner, 0)
	})
	all["PRODUCT_COMPONENT_VERSION"] = view("PRODUCT:80 VERSION:80 VERSION_FULL:80 STATUS:80", func(q *dictQuery) {
		q.add("Oracle Database 19c Enterprise Edition ", cfg.Release, cfg.Release, "Production")
	})
	all["GLOBAL_NAME"] = view("GLOBAL_NAME", func(q *dictQuery) { q.add(cfg.Container) })
	all["NLS_SESSION_PARAMETERS"] = view("PARAMETER:30 VALUE:64", func(q *dictQuery) {
		settings := q.ses.nls.parameters()
		for _, name := range sortedKeys(settings) {
			q.add(name, settings[name])
		}
	})
	database := func(q *dictQuery) {
		n := defaultNLS()
		settings := n.parameters()
		settings["NLS_CHARACTERSET"], settings["NLS_NCHAR_CHARACTERSET"] = "AL32UTF8", "AL16UTF16"
		settings["NLS_RDBMS_VERSION"] = cfg.Release
		for _, name := range sortedKeys(settings) {
			q.add(name, settings[name])
		}
	}
	all["NLS_DATABASE_PARAMETERS"] = view("PARAMETER VALUE:64", database)
	all["V$NLS_PARAMETERS"] = view("PARAMETER VALUE:64", database)
}

func listSessions(q *dictQuery) {
	for _, s := range q.ses.db.sessions.list() {
		c := s.clientInfo()
		q.add(int(s.id), int(s.serial), int(s.serial), q.cat.userID(s.user), s.user, s.status(), s.user, s.login.OSUser, s.login.PID,
			s.login.Machine, s.login.Terminal, s.login.Program, "USER", c.module, c.action, c.info, c.id, s.loggedOn,
			s.login.Service, q.ses.db.cfg.ContainerID)
	}
}

// undoRetention is UNDO_RETENTION in seconds; Oracle's default where undo is kept for ever.
func undoRetention(d *Database) int {
	if r := d.cfg.Store.UndoRetention; r > 0 {
		return int(r / time.Second)
	}
	return 900
}

func listParameters(q *dictQuery, d *Database) {
	parameters := []struct{ name, value string }{
		{"compatible", d.cfg.Release}, {"db_block_size", strconv.Itoa(blockSize)}, {"db_name", d.cfg.Name},
		{"db_unique_name", d.cfg.UniqueName}, {"instance_name", d.cfg.Name}, {"max_string_size", "STANDARD"},
		{"open_cursors", "300"}, {"processes", fmt.Sprint(d.cfg.MaxSessions)}, {"sessions", fmt.Sprint(d.cfg.MaxSessions)},
		{"undo_management", "AUTO"}, {"undo_retention", strconv.Itoa(undoRetention(d))}, {"undo_tablespace", "UNDOTBS1"},
	}
	for i, p := range parameters {
		typ := 2 // string
		if _, err := strconv.Atoi(p.value); err == nil {
			typ = 3
		}
		q.add(i+1, p.name, typ, p.value, p.value, "TRUE", d.cfg.ContainerID)
	}
}
