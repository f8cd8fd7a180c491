package ttc

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Config says where and as whom to log in.
type Config struct {
	Address  string // host:port of the listener
	Service  string
	User     string // folded to upper case unless in double quotes
	Password string
	Program  string      // how the session shows in V$SESSION
	TLS      *tls.Config // nil means TCP; otherwise TCPS, to the ServerName it names
	SDU      int         // longest packet asked for; 0 means 2 MiB
}

// mostHops is how often a listener may send us on.
const mostHops = 4

// Connect opens a session. When ctx ends, it is given up at once.
func Connect(ctx context.Context, cfg Config) (*Session, error) {
	cfg.SDU = cmp.Or(cfg.SDU, maxSDU)
	if cfg.SDU < minSDU || cfg.SDU > maxSDU {
		return nil, fmt.Errorf("connect: an SDU of %d is not between %d and %d", cfg.SDU, minSDU, maxSDU)
	}
	for range mostHops {
		s, next, err := connectOnce(ctx, cfg)
		if err != nil || s != nil {
			return s, err
		}
		cfg.Address = next
	}
	return nil, fmt.Errorf("%w: the listener redirected %d times", ErrProtocol, mostHops)
}

// connectOnce dials one address, which either becomes a session or sends us on to the next.
func connectOnce(ctx context.Context, cfg Config) (s *Session, next string, err error) {
	nc, err := dial(ctx, cfg)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, "", cause
	}
	if err != nil {
		return nil, "", err
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	s, next, err = open(nc, cfg)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil || s == nil {
		nc.Close()
		return nil, next, err
	}
	return s, "", nil
}

func dial(ctx context.Context, cfg Config) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", cfg.Address)
	if err != nil || cfg.TLS == nil {
		return nc, err
	}
	secure := tls.Client(nc, cfg.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return secure, nil
}

// loginPatience bounds each read of a login; its context bounds the whole.
const loginPatience = 30 * time.Second

func open(nc net.Conn, cfg Config) (s *Session, next string, err error) {
	l := newLink(nc)
	l.patience = loginPatience
	if next, err = l.connect(cfg); err != nil || next != "" {
		return nil, next, err
	}
	s = &Session{link: l, in: newInput(l)}
	if err := s.negotiate(); err != nil {
		return nil, "", err
	}
	return s, "", s.login(cfg)
}

// connect says CONNECT and learns the packet format from ACCEPT, or where to go instead.
func (l *link) connect(cfg Config) (next string, err error) {
	const mostResends = 3
	for range mostResends {
		if err := l.sendConnect(cfg); err != nil {
			return "", err
		}
		kind, body, err := l.whole()
		if err != nil {
			return "", err
		}
		switch kind {
		case packetResend:
		case packetAccept:
			return "", l.accept(body)
		case packetRedirect:
			return l.redirect(body)
		case packetRefuse:
			return "", refusal(body)
		default:
			return "", fmt.Errorf("%w: a packet of type %d in answer to CONNECT", ErrProtocol, kind)
		}
	}
	return "", fmt.Errorf("%w: the listener asked for CONNECT %d times", ErrProtocol, mostResends)
}

const (
	versionOurs   = 317 // with 318 and more come messages of 23ai
	versionLowest = 300
	// noServices disables the native network services for this connection, twice.
	noServices = 0x84
	// mostInside is the longest descriptor that travels inside CONNECT.
	mostInside     = 230
	connectDataAt  = 74
	characteristic = 0x4F98
)

// sendConnect writes CONNECT. Offsets are Oracle's, from the packet's header on.
func (l *link) sendConnect(cfg Config) error {
	descriptor := descriptor(cfg)
	b := make([]byte, connectDataAt-headerLen)
	put16 := func(at, v int) { binary.BigEndian.PutUint16(b[at-headerLen:], uint16(v)) }
	put32 := func(at, v int) { binary.BigEndian.PutUint32(b[at-headerLen:], uint32(v)) }
	put16(8, versionOurs)
	put16(10, versionLowest)
	put16(14, min(cfg.SDU, 0xFFFF))
	put16(16, min(cfg.SDU, 0xFFFF))
	put16(18, characteristic)
	put16(22, 1)
	put16(24, len(descriptor))
	put16(26, connectDataAt)
	put16(32, noServices<<8|noServices)
	put32(58, cfg.SDU)
	put32(62, cfg.SDU)
	if len(descriptor) <= mostInside {
		return l.write(packetConnect, append(b, descriptor...))
	}
	if err := l.write(packetConnect, b); err != nil {
		return err
	}
	return l.write(packetData, append(make([]byte, flagsLen), descriptor...))
}

func descriptor(cfg Config) string {
	host, port, _ := net.SplitHostPort(cfg.Address)
	protocol := "tcp"
	if cfg.TLS != nil {
		protocol = "tcps"
	}
	return fmt.Sprintf("(DESCRIPTION=(ADDRESS=(PROTOCOL=%s)(HOST=%s)(PORT=%s))(CONNECT_DATA=(SERVICE_NAME=%s)(CID=(PROGRAM=%s)(HOST=%s)(USER=%s))))",
		protocol, plain(host), plain(port), plain(cfg.Service), plain(cfg.Program), plain(hostName()), plain(strconv.Itoa(os.Getuid())))
}

// plain drops what would end a value of a descriptor.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("()=\x00", r) {
			return -1
		}
		return r
	}, s)
}

// hostName shows in V$SESSION; a host without a name has an empty one there.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// servicesRequired in ACCEPT: the server talks encrypted or not at all.
const servicesRequired = 0x10

// accept learns the packet format.
func (l *link) accept(body []byte) error {
	if len(body) < 24-headerLen {
		return fmt.Errorf("%w: an ACCEPT of %d bytes", ErrProtocol, len(body))
	}
	if (body[22-headerLen]|body[23-headerLen])&servicesRequired != 0 {
		return &UnsupportedError{What: "through native network encryption, which the server requires"}
	}
	sdu := int(binary.BigEndian.Uint16(body[12-headerLen:]))
	l.wide = binary.BigEndian.Uint16(body) >= wideFrom
	if l.wide {
		if len(body) < 36-headerLen {
			return fmt.Errorf("%w: an ACCEPT of %d bytes", ErrProtocol, len(body))
		}
		sdu = int(binary.BigEndian.Uint32(body[32-headerLen:]))
	}
	if sdu < minSDU || sdu > maxPacket {
		return fmt.Errorf("%w: an SDU of %d", ErrProtocol, sdu)
	}
	l.sdu = sdu
	return nil
}

// redirect returns the address that the listener sends us to, which stands in the packet or in the next.
func (l *link) redirect(body []byte) (string, error) {
	if len(body) < 2 {
		return "", fmt.Errorf("%w: a REDIRECT of %d bytes", ErrProtocol, len(body))
	}
	text := body[2:]
	if n := int(binary.BigEndian.Uint16(body)); n == 0 || n > len(text) {
		kind, body, err := l.whole()
		if err != nil {
			return "", err
		}
		if kind != packetData || len(body) < flagsLen {
			return "", fmt.Errorf("%w: a packet of type %d after REDIRECT", ErrProtocol, kind)
		}
		text = body[flagsLen:]
	}
	host, port := descriptorValue(text, "HOST"), descriptorValue(text, "PORT")
	if host == "" || port == "" {
		return "", fmt.Errorf("%w: a REDIRECT to no host and port", ErrProtocol)
	}
	return net.JoinHostPort(host, port), nil
}

func descriptorValue(text []byte, key string) string {
	m := regexp.MustCompile(`(?i)\(\s*` + key + `\s*=\s*([^()\s]+)\s*\)`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// refusal is the listener's error.
func refusal(body []byte) error {
	code, err := strconv.Atoi(descriptorValue(body, "ERR"))
	if err != nil {
		code = 12564 // connection refused
	}
	return &Error{Code: code, Message: fmt.Sprintf("ORA-%05d: the listener refused the connection", code)}
}
