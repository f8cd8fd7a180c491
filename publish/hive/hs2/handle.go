package hs2

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/beltran/gohive/hiveserver"
)

// SessionHandle names a session on its server. Whoever holds its text can act in that session: keep it as a secret.
type SessionHandle struct{ id hiveserver.THandleIdentifier }

// Text is the handle for another process to parse.
func (h SessionHandle) Text() string { return idText(&h.id) }

// String names the session without the secret, for logs.
func (h SessionHandle) String() string { return idName(&h.id) }

// ParseSessionHandle reads what Text wrote.
func ParseSessionHandle(text string) (SessionHandle, error) {
	id, err := parseID(text)
	if err != nil {
		return SessionHandle{}, fmt.Errorf("parse session handle: %w", err)
	}
	return SessionHandle{id: *id}, nil
}

func (h SessionHandle) thrift() *hiveserver.TSessionHandle {
	return &hiveserver.TSessionHandle{SessionId: &h.id}
}

// OperationHandle names a statement on its server, as SessionHandle does a session.
type OperationHandle struct{ h hiveserver.TOperationHandle }

// Text is the handle for another process to parse.
func (h OperationHandle) Text() string {
	rows := 0
	if h.h.HasResultSet {
		rows = 1
	}
	return fmt.Sprintf("%s.%d.%d", idText(h.h.OperationId), h.h.OperationType, rows)
}

// String names the operation without the secret, for logs.
func (h OperationHandle) String() string { return idName(h.h.OperationId) }

// ParseOperationHandle reads what Text wrote.
func ParseOperationHandle(text string) (OperationHandle, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 5 {
		return OperationHandle{}, fmt.Errorf("parse operation handle: %d parts, want 5", len(parts))
	}
	id, err := parseID(strings.Join(parts[:3], "."))
	if err != nil {
		return OperationHandle{}, fmt.Errorf("parse operation handle: %w", err)
	}
	kind, err := strconv.ParseInt(parts[3], 10, 32)
	if err != nil {
		return OperationHandle{}, fmt.Errorf("parse operation handle: type: %w", err)
	}
	return OperationHandle{h: hiveserver.TOperationHandle{
		OperationId: id, OperationType: hiveserver.TOperationType(kind), HasResultSet: parts[4] == "1"}}, nil
}

// idText ends with a checksum: to the server a damaged handle is one it does not know, which would pass for a
// session that is closed.
func idText(id *hiveserver.THandleIdentifier) string {
	e := base64.RawURLEncoding
	return fmt.Sprintf("%s.%s.%08x", e.EncodeToString(id.GetGUID()), e.EncodeToString(id.GetSecret()), idSum(id))
}

func idSum(id *hiveserver.THandleIdentifier) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(id.GetGUID()), crc32.IEEETable, id.GetSecret())
}

// idName writes the GUID as HiveServer2's own log does.
func idName(id *hiveserver.THandleIdentifier) string {
	g := id.GetGUID()
	if len(g) != 16 {
		return fmt.Sprintf("%x", g)
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", g[:4], g[4:6], g[6:8], g[8:10], g[10:])
}

func parseID(text string) (*hiveserver.THandleIdentifier, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%d parts, want 3", len(parts))
	}
	g, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || len(g) != 16 {
		return nil, fmt.Errorf("bad GUID")
	}
	s, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || len(s) != 16 {
		return nil, fmt.Errorf("bad secret")
	}
	id := &hiveserver.THandleIdentifier{GUID: g, Secret: s}
	if parts[2] != fmt.Sprintf("%08x", idSum(id)) {
		return nil, fmt.Errorf("bad checksum: the text was changed or cut")
	}
	return id, nil
}
