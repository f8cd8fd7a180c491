package sql

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func sessionFunctions() map[string]function {
	return map[string]function{
		"USER": {0, 0, true, sessionText(128, func(s *Session) string { return s.user })},
		"UID": {0, 0, true, func(c *compiler, _ *call, _ []expr) (expr, error) {
			return constantExpr(numberType(), ora.EncodeInt(int64(c.cat.userID(c.ses.user)))), nil
		}},
		"DBTIMEZONE":      {0, 0, true, sessionText(6, func(*Session) string { return "+00:00" })},
		"SESSIONTIMEZONE": {0, 0, true, sessionText(75, func(s *Session) string { return s.zone.text() })},
		"SYS_CONTEXT":     {2, 3, false, sysContext},
		"USERENV": {1, 1, false, func(c *compiler, n *call, args []expr) (expr, error) {
			return sysContext(c, n, append([]expr{constantExpr(textType(7), ora.Value("USERENV"))}, args...))
		}},
		"SCN_TO_TIMESTAMP":                        {1, 1, false, scnToTimestamp},
		"TIMESTAMP_TO_SCN":                        {1, 1, false, timestampToSCN},
		"DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER": {0, 0, true, systemChangeNumber},
		"VSIZE": {1, 1, false, func(_ *compiler, _ *call, args []expr) (expr, error) {
			return args[0].through(numberType(), func(_ *execution, v ora.Value) (ora.Value, error) {
				return ora.EncodeInt(int64(len(v))), nil
			}), nil
		}},
		"DUMP": {1, 1, false, dump},
	}
}

func sessionText(width uint32, fn func(*Session) string) func(*compiler, *call, []expr) (expr, error) {
	return func(*compiler, *call, []expr) (expr, error) {
		return expr{typ: textType(width), constant: true, eval: func(f *frame) (ora.Value, error) {
			return ora.Value(fn(f.x.ses)), nil
		}}, nil
	}
}

// sysContext compiles SYS_CONTEXT('USERENV', parameter).
func sysContext(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args[:2], classText)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(256), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		if !strings.EqualFold(string(v[0]), "USERENV") {
			return nil, nil // a namespace that nobody has set up
		}
		s, ok := x.ses.environment(strings.ToUpper(string(v[1])))
		if !ok {
			return nil, ora.Errorf(2003, "invalid USERENV parameter")
		}
		return ora.Value(s), nil
	}), nil
}

// environment is what SYS_CONTEXT('USERENV', ...) knows.
func (s *Session) environment(name string) (string, bool) {
	cfg := &s.db.cfg
	client := s.clientInfo()
	switch name {
	case "CON_NAME":
		return s.container, true
	case "CON_ID":
		return strconv.Itoa(cfg.ContainerID), true
	case "DB_NAME":
		return s.container, true
	case "DB_UNIQUE_NAME":
		return cfg.UniqueName, true
	case "INSTANCE_NAME":
		return cfg.Name, true
	case "INSTANCE":
		return "1", true
	case "DB_DOMAIN", "PROXY_USER", "CURRENT_EDITION_NAME":
		return "", true
	case "DATABASE_ROLE":
		return "PRIMARY", true
	case "SERVICE_NAME":
		return strings.ToLower(s.login.Service), true
	case "CURRENT_SCHEMA":
		return s.schema, true
	case "SESSION_USER", "CURRENT_USER", "AUTHENTICATED_IDENTITY":
		return s.user, true
	case "SID":
		return strconv.Itoa(int(s.id)), true
	case "SESSIONID":
		return strconv.Itoa(int(s.serial)), true
	case "HOST":
		return s.login.Machine, true
	case "OS_USER":
		return s.login.OSUser, true
	case "TERMINAL":
		return s.login.Terminal, true
	case "IP_ADDRESS":
		host, _, _ := strings.Cut(s.login.Remote, ":")
		return host, true
	case "SERVER_HOST":
		return cfg.Host, true
	case "MODULE":
		return client.module, true
	case "ACTION":
		return client.action, true
	case "CLIENT_IDENTIFIER":
		return client.id, true
	case "CLIENT_INFO":
		return client.info, true
	case "LANGUAGE":
		return "AMERICAN_AMERICA.AL32UTF8", true
	case "LANG":
		return "US", true
	case "NLS_DATE_FORMAT":
		return s.nls.date, true
	case "NLS_TERRITORY", "NLS_CURRENCY", "NLS_CALENDAR", "NLS_DATE_LANGUAGE", "NLS_SORT":
		return s.nls.others[name], true
	case "ISDBA":
		return strings.ToUpper(strconv.FormatBool(s.user == "SYS")), true
	}
	return "", false
}

// systemChangeNumber compiles DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER, which needs EXECUTE on the package.
func systemChangeNumber(c *compiler, n *call, _ []expr) (expr, error) {
	if !c.cat.mayExecute(c.user, "DBMS_FLASHBACK") {
		return expr{}, errAt(n.at(), 904, "%s: invalid identifier", quotedPath(strings.Split(n.name, ".")))
	}
	return expr{typ: numberType(), eval: func(f *frame) (ora.Value, error) {
		return ora.EncodeInt(int64(f.x.ses.db.store.SCN())), nil
	}}, nil
}

func scnToTimestamp(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(plainType(classTimestamp), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		scn, err := scnValue(v[0])
		if err != nil {
			return nil, err
		}
		at, ok := x.ses.db.store.TimeOf(scn)
		if !ok {
			return nil, ora.Errorf(8181, "specified number is not a valid system change number")
		}
		return x.ses.db.wall(at).wall.EncodeTimestamp(), nil
	}), nil
}

func timestampToSCN(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classTimestamp)
	if err != nil {
		return expr{}, err
	}
	return strict(numberType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		scn, err := x.ses.db.scnAt(t)
		return ora.EncodeInt(int64(scn)), err
	}), nil
}

// scnValue reads an SCN; ORA-08181 for what cannot be one.
func scnValue(v ora.Value) (uint64, error) {
	if len(v) == 0 {
		return 0, ora.Errorf(8181, "specified number is not a valid system change number")
	}
	n, err := ora.DecodeNumber(v)
	if err != nil {
		return 0, err
	}
	n = n.Trunc(0)
	i, ok := n.Int64()
	if !ok || i < 0 {
		return 0, ora.Errorf(8181, "specified number is not a valid system change number")
	}
	return uint64(i), nil
}

// wall is a moment on the server's clock.
func (d *Database) wall(at time.Time) zoned {
	t := ora.FromGo(at.UTC()).AddSeconds(int64(d.cfg.Zone) * 60)
	return zoned{wall: t, offset: d.cfg.Zone, zone: true, digits: 6}
}

// scnAt is the SCN that was current at a time of the server's clock: ORA-08180 before the database began,
// ORA-08186 in the future.
func (d *Database) scnAt(t ora.Time) (uint64, error) {
	at := t.AddSeconds(-int64(d.cfg.Zone) * 60).Go()
	if at.After(d.cfg.Now().Add(time.Second)) {
		return 0, ora.Errorf(8186, "invalid timestamp specified")
	}
	scn, ok := d.store.SCNAt(at)
	if !ok {
		return 0, ora.Errorf(8180, "no snapshot found based on specified time")
	}
	return scn, nil
}

// dump compiles DUMP(x): the type and the internal bytes.
func dump(_ *compiler, _ *call, args []expr) (expr, error) {
	x := args[0]
	return expr{typ: textType(maxVarchar), eval: func(f *frame) (ora.Value, error) {
		v, err := x.eval(f)
		if err != nil || len(v) == 0 {
			return ora.Value("NULL"), err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "Typ=%d Len=%d: ", x.typ.Code, len(v))
		for i, c := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%d", c)
		}
		return ora.Value(b.String()), nil
	}}, nil
}
