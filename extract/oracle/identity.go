package oracle

import (
	"context"
	"fmt"
	"strings"

	"github.com/loadctl/loadctl/extract"
)

// identify asks who answers, and learns on the way the session's user and whether the database stores Unicode.
func (s *session) identify(ctx context.Context, noDBID bool) (extract.Identity, error) {
	text := selectIdentity
	if noDBID {
		text = selectIdentityNoDBID
	}
	rows, err := s.all(ctx, text)
	if err != nil {
		return extract.Identity{}, err
	}
	if len(rows) != 1 || len(rows[0]) != 5 || rows[0][3] == "" {
		return extract.Identity{}, fmt.Errorf("%w: the database says nothing of itself", extract.ErrQuery)
	}
	row := rows[0]
	s.user = row[3]
	_, charset, _ := strings.Cut(row[4], ".")
	s.unicode = charset == "AL32UTF8" || charset == "UTF8"
	return extract.Identity{DBID: row[0], UniqueName: row[1], Container: row[2]}, nil
}

// same compares identities. A DBID that is unknown on either side, because V$DATABASE is not visible, proves nothing.
func same(a, b extract.Identity) bool {
	if a.DBID == "" || b.DBID == "" {
		a.DBID, b.DBID = "", ""
	}
	return a == b
}

func identityText(id extract.Identity) string {
	dbid := id.DBID
	if dbid == "" {
		dbid = "unknown"
	}
	return fmt.Sprintf("database %s, container %s, DBID %s", id.UniqueName, id.Container, dbid)
}
