package wire

import (
	"os"
	"os/user"
)

// Who is who works here, for the ledger's history: user@host.
func Who() string {
	name, host := "unknown", "localhost"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}
