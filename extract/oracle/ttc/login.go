package ttc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const (
	fnSessionKey   = 0x76
	fnAuthenticate = 0x73

	logonPlain    = 0x1
	logonPassword = 0x100
)

// login proves to the server that we know the password, and has it prove the same.
func (s *Session) login(cfg Config) error {
	user := cfg.User
	if !strings.HasPrefix(user, `"`) {
		user = strings.ToUpper(user)
	}
	who := [][2]string{
		{"AUTH_TERMINAL", hostName()}, {"AUTH_PROGRAM_NM", cfg.Program}, {"AUTH_MACHINE", hostName()},
		{"AUTH_PID", strconv.Itoa(os.Getpid())}, {"AUTH_SID", cfg.Program},
	}
	s.loginHead(fnSessionKey, user, logonPlain, len(who))
	s.out.pairs(who)
	if err := s.send(); err != nil {
		return err
	}
	challenge, err := s.loginReply()
	if err != nil {
		return err
	}
	proof, err := answer(challenge, cfg.Password)
	if err != nil {
		return err
	}
	if err := s.authenticate(cfg, user, who, proof); err != nil {
		return err
	}
	reply, err := s.loginReply()
	if err != nil {
		return err
	}
	return proof.check(reply["AUTH_SVR_RESPONSE"].value)
}

func (s *Session) authenticate(cfg Config, user string, who [][2]string, p *proof) error {
	pairs := append([][2]string{{"AUTH_PASSWORD", p.password}}, who...)
	if p.speedy != "" {
		pairs = append(pairs, [2]string{"AUTH_PBKDF2_SPEEDY_KEY", p.speedy})
	}
	pairs = append(pairs, [][2]string{
		{"SESSION_CLIENT_CHARSET", strconv.Itoa(charsetAL32UTF8)}, {"SESSION_CLIENT_LIB_TYPE", "0"},
		{"SESSION_CLIENT_DRIVER_NAME", cfg.Program}, {"SESSION_CLIENT_VERSION", "2.0.0.0"}, {"SESSION_CLIENT_LOBATTR", "1"},
	}...)
	s.loginHead(fnAuthenticate, user, logonPlain|logonPassword, len(pairs)+2)
	s.out.pair("AUTH_SESSKEY", p.sessionKey, 1)
	s.out.pairs(pairs)
	s.out.pair("AUTH_ALTER_SESSION", "ALTER SESSION SET TIME_ZONE='+00:00'\x00", 1)
	return s.send()
}

func (s *Session) loginHead(function byte, user string, mode uint64, pairs int) {
	o := &s.out
	o.reset()
	o.function(function)
	o.raw(1)
	o.uint(uint64(len(user)))
	o.uint(mode)
	o.raw(1)
	o.uint(uint64(pairs))
	o.raw(1, 1)
	o.clr(user)
}

func (o *output) pairs(all [][2]string) {
	for _, p := range all {
		o.pair(p[0], p[1], 0)
	}
}

// setting is a value that the server named.
type setting struct {
	value string
	flags int64
}

// loginReply reads what the server names in answer to either message of a login.
func (s *Session) loginReply() (map[string]setting, error) {
	out := map[string]setting{}
	for {
		switch m := s.in.message(); m {
		case msgParameters:
			s.in.skip(1)
			for n := s.in.count(1024); n > 0; n-- {
				name, value, flags := s.in.pair()
				out[name] = setting{value, flags}
			}
		case msgEnd:
			end, ok := s.end()
			if !ok {
				continue
			}
			return out, end.fault()
		default:
			if err := s.other(m); err != nil {
				return nil, fmt.Errorf("log in: %w", err)
			}
		}
	}
}
