package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

const (
	codeBadPassword = 1017
	badPasswordText = "invalid username/password; logon denied"
)

// sessionKey is the first phase of a login: it answers with the challenge. An unknown user gets one too, so
// that the answer does not tell who exists.
func (s *session) sessionKey() error {
	r := s.dec.auth()
	if s.dec.err != nil {
		return s.dec.err
	}
	s.takeAuth(r)
	password, known := s.cfg.Backend.Password(s.login.User)
	if !known {
		password = hexUpper(random(16))
	}
	v, err := s.secrets.of(s.cfg.Verifier, s.login.User, password)
	if err != nil {
		return err
	}
	s.challenge, s.knownUser = newChallenge(v), known
	e := &s.enc
	e.u8(msgParameter)
	e.uint(6)
	e.pair("AUTH_SESSKEY", s.challenge.sessionKey(), 0)
	e.pair("AUTH_VFR_DATA", hexUpper(v.salt), uint64(v.kind))
	e.pair("AUTH_PBKDF2_CSK_SALT", hexUpper(s.challenge.comboSalt), 0)
	e.pair("AUTH_PBKDF2_VGEN_COUNT", strconv.Itoa(keyGenerations), 0)
	e.pair("AUTH_PBKDF2_SDER_COUNT", strconv.Itoa(comboIterations), 0)
	e.pair("AUTH_GLOBALLY_UNIQUE_DBID\x00", "499CE0C8254927558131659300000001", 0)
	s.endOfCall(outcome{})
	return s.flush()
}

// takeAuth keeps who the client says it is.
func (s *session) takeAuth(r authRequest) {
	keep := func(dst *string, key string) {
		if v := r.Pairs[key]; v != "" {
			*dst = v
		}
	}
	if r.User != "" {
		s.login.User = userName(r.User)
	}
	keep(&s.login.Program, "AUTH_PROGRAM_NM")
	keep(&s.login.Machine, "AUTH_MACHINE")
	keep(&s.login.Terminal, "AUTH_TERMINAL")
	keep(&s.login.PID, "AUTH_PID")
	keep(&s.login.OSUser, "AUTH_SID")
	keep(&s.login.Driver, "SESSION_CLIENT_DRIVER_NAME")
}

// userName folds an unquoted name to upper case.
func userName(s string) string {
	if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' {
		return s[1 : n-1]
	}
	return strings.ToUpper(s)
}

// authenticate is the second phase: it checks the password, opens the session and applies the settings that
// came along.
func (s *session) authenticate(ctx context.Context) error {
	r := s.dec.auth()
	if s.dec.err != nil {
		return s.dec.err
	}
	if s.challenge == nil {
		return fmt.Errorf("%w: second phase of a login without the first", errDecode)
	}
	s.takeAuth(r)
	proof, err := s.challenge.verify(r.Pairs["AUTH_SESSKEY"], r.Pairs["AUTH_PASSWORD"])
	if err == nil && !s.knownUser {
		err = errPassword
	}
	if err != nil {
		if !errors.Is(err, errPassword) {
			return err
		}
		s.cfg.Backend.LoginFailed(s.login.User)
		return s.refuse(ora.Errorf(codeBadPassword, badPasswordText), outcome{})
	}
	if err := s.open(ctx, r.Pairs["AUTH_ALTER_SESSION"]); err != nil {
		return s.fail(ctx, err, outcome{})
	}
	s.sessionProperties(proof)
	s.sessionState()
	s.endOfCall(outcome{})
	return s.flush()
}

// open opens the backend's session and watches for its being killed.
func (s *session) open(ctx context.Context, alterSession string) error {
	if e := s.cfg.Faults.login(s.login.User, false); e != nil {
		return e
	}
	sess, err := s.cfg.Backend.Connect(s.login)
	if err != nil {
		return err
	}
	s.sess = sess
	s.sid, s.serial = sess.ID()
	s.log = s.log.With("sid", s.sid, "user", s.login.User)
	s.wg.Go(func() {
		select {
		case <-sess.Done():
			s.conn.stop(errKilled)
		case <-s.conn.quit:
		}
	})
	if alterSession == "" {
		return nil
	}
	stmt, err := sess.Prepare(alterSession)
	if err != nil {
		return err
	}
	_, _, err = stmt.Execute(ctx, nil)
	return err
}

// sessionProperties appends what a 19c server says at the end of a login. Names that end in NUL do so on the
// wire.
func (s *session) sessionProperties(proof string) {
	name, service := s.cfg.Instance, s.login.Service
	properties := [][2]string{
		{"AUTH_VERSION_STRING", "- Production"}, {"AUTH_VERSION_SQL", "24"}, {"AUTH_XACTION_TRAITS", "3"},
		{"AUTH_VERSION_NO", strconv.Itoa(versionNumber)}, {"AUTH_VERSION_STATUS", "0"}, {"AUTH_CAPABILITY_TABLE", ""},
		{"AUTH_DBNAME", name}, {"AUTH_DB_MOUNT_ID\x00", "4035372866"}, {"AUTH_DB_ID\x00", "3928294024"},
		{"AUTH_USER_ID", "95"}, {"AUTH_SESSION_ID", strconv.FormatUint(uint64(s.sid), 10)},
		{"AUTH_SERIAL_NUM", strconv.FormatUint(uint64(s.serial), 10)}, {"AUTH_INSTANCE_NO", "1"},
		{"AUTH_FAILOVER_ID", "1"}, {"AUTH_SERVER_PID", "4183091"}, {"AUTH_SC_SERVER_HOST", "orasim"},
		{"AUTH_SC_DBUNIQUE_NAME", name}, {"AUTH_SC_INSTANCE_NAME", name}, {"AUTH_SC_INSTANCE_ID", "1"},
		{"AUTH_SC_INSTANCE_START_TIME", "2026-03-15 05:13:36.000000000 +00:00"}, {"AUTH_SC_DB_DOMAIN", ""},
		{"AUTH_SC_SERVICE_NAME", service}, {"AUTH_INSTANCENAME", name},
		{"AUTH_NLS_LXLAN\x00", "AMERICAN"}, {"AUTH_NLS_LXCTERRITORY\x00", "AMERICA"},
		{"AUTH_NLS_LXCCURRENCY\x00", "$"}, {"AUTH_NLS_LXCISOCURR\x00", "AMERICA"}, {"AUTH_NLS_LXCNUMERICS\x00", ".,"},
		{"AUTH_NLS_LXCDATEFM\x00", "DD-MON-RR"}, {"AUTH_NLS_LXCDATELANG\x00", "AMERICAN"},
		{"AUTH_NLS_LXCSORT\x00", "BINARY"}, {"AUTH_NLS_LXCCALENDAR\x00", "GREGORIAN"}, {"AUTH_NLS_LXCUNIONCUR\x00", "$"},
		{"AUTH_NLS_LXCTIMEFM\x00", "HH.MI.SSXFF AM"}, {"AUTH_NLS_LXCSTMPFM\x00", "DD-MON-RR HH.MI.SSXFF AM"},
		{"AUTH_NLS_LXCTTZNFM\x00", "HH.MI.SSXFF AM TZR"}, {"AUTH_NLS_LXCSTZNFM\x00", "DD-MON-RR HH.MI.SSXFF AM TZR"},
		{"AUTH_SVR_RESPONSE", proof}, {"AUTH_MAX_OPEN_CURSORS", strconv.Itoa(s.cfg.MaxCursors)},
		{"AUTH_MAX_IDEN_LENGTH", "128"},
	}
	e := &s.enc
	e.u8(msgParameter)
	e.uint(uint64(len(properties)))
	for _, p := range properties {
		e.pair(p[0], p[1], 0)
	}
}

// Keywords of the session state. Without the language go-ora asks for everything by a PL/SQL block.
const (
	stateLanguage = 16
	stateTimeZone = 163
)

// sessionState appends the server's piggyback with the session's NLS settings and time zone.
func (s *session) sessionState() {
	settings := []struct {
		value   string
		keyword uint64
	}{
		{"AMERICAN", stateLanguage}, {"AMERICA", 9}, {"$", 0}, {"AMERICA", 1}, {".,", 2}, {"AL32UTF8", 10},
		{"GREGORIAN", 12}, {"DD-MON-RR", 7}, {"AMERICAN", 8}, {"BINARY", 11}, {"HH.MI.SSXFF AM", 57},
		{"DD-MON-RR HH.MI.SSXFF AM", 58}, {"HH.MI.SSXFF AM TZR", 59}, {"DD-MON-RR HH.MI.SSXFF AM TZR", 60},
		{"$", 52}, {"BINARY", 50}, {"BYTE", 61}, {"FALSE", 62}, {string(zoneBlock()), stateTimeZone},
	}
	e := &s.enc
	e.raw(msgServerSideNote, 5)
	e.uint(1)
	e.u8(1)
	e.uint(uint64(len(settings)))
	e.u8(byte(len(settings) + 2))
	for _, x := range settings {
		e.uint(0) // no text of the keyword
		e.uint(uint64(len(x.value)))
		e.clr([]byte(x.value))
		e.uint(x.keyword)
	}
	e.uint(0)
}

// The version that we claim, as text and as the 18c and later number.
const (
	versionText   = "Oracle Database 19c Standard Edition 2 Release 19.0.0.0.0 - Production\nVersion 19.22.0.0.0"
	versionNumber = 0x13160000
)

// version answers OVERSION. go-ora wants the whole answer in one packet.
func (s *session) version() error {
	d := &s.dec
	d.u8()
	d.uint()
	d.skip(2)
	if d.caps.fieldVersion >= version181ext {
		d.uint()
	}
	if d.err != nil {
		return d.err
	}
	e := &s.enc
	e.u8(msgParameter)
	e.uint(uint64(len(versionText)))
	e.chr([]byte(versionText))
	e.uint(versionNumber)
	return s.status()
}
