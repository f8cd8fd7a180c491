package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sijms/go-ora/v2/network"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle/ttc"
)

// code is what an ORA code means to the port, and what to do about it. The hint may use {user}, {db} and {table}.
type code struct {
	is   error
	hint string
}

const (
	hintSnapshot = "the source cannot show this instant any more: start a new run; if it recurs, shorten the run or raise undo_retention"
	hintGrant    = "GRANT SELECT, FLASHBACK ON {table} TO {user}"
	hintLost     = "the connection was lost; the statement changed nothing and may be repeated"
	hintBusy     = "the database is at its limit; lower max_sessions or wait"
	hintListener = "check host and port of {db}, and that the listener runs"
	hintService  = "the listener runs but does not know the service of {db}; compare with `lsnrctl services`"
	hintStarting = "the database is starting or stopping; try again when it is open"
	hintLogin    = "check user and password of {db}"
)

// codes is the one table from ORA codes to errors of the port. What is not in it is ErrQuery.
func codes() map[int]code {
	return map[int]code{
		1466: {extract.ErrSnapshotTooOld, "the table was changed by DDL after this instant: start a new run"},
		1555: {extract.ErrSnapshotTooOld, hintSnapshot},
		8103: {extract.ErrSnapshotTooOld, "the table was truncated or moved under the run: start a new run"},
		8180: {extract.ErrSnapshotTooOld, hintSnapshot},
		8181: {extract.ErrSnapshotTooOld, hintSnapshot},

		1005:  {extract.ErrAuth, "the password is empty"},
		1017:  {extract.ErrAuth, hintLogin},
		1045:  {extract.ErrAuth, "GRANT CREATE SESSION TO {user}"},
		28000: {extract.ErrAuth, "the account is locked: ALTER USER {user} ACCOUNT UNLOCK"},
		28001: {extract.ErrAuth, "the password has expired: set a new one"},
		28040: {extract.ErrAuth, "the server allows no login protocol that this client knows: see SQLNET.ALLOWED_LOGON_VERSION_SERVER"},
		28365: {extract.ErrAuth, "the wallet of the database is not open"},

		942:   {extract.ErrNoTable, "it is not there, or {user} may not see it: " + hintGrant},
		904:   {extract.ErrNoColumn, "a name in columns:, where: or the split column is not a column of the table; quote names that are not upper case"},
		1031:  {extract.ErrPrivilege, hintGrant},
		1720:  {extract.ErrPrivilege, hintGrant},
		41900: {extract.ErrPrivilege, hintGrant},

		18:    {extract.ErrBusy, hintBusy},
		20:    {extract.ErrBusy, hintBusy},
		1652:  {extract.ErrBusy, "temporary space is used up; wait, or measure fewer columns"},
		2391:  {extract.ErrBusy, "the profile of {user} allows no more sessions; lower max_sessions"},
		4031:  {extract.ErrBusy, hintBusy},
		12516: {extract.ErrBusy, hintBusy},
		12518: {extract.ErrBusy, hintBusy},
		12519: {extract.ErrBusy, hintBusy},
		12520: {extract.ErrBusy, hintBusy},

		28:    {extract.ErrUnreachable, "the session was killed by an administrator"},
		1012:  {extract.ErrUnreachable, hintLost},
		1033:  {extract.ErrUnreachable, hintStarting},
		1034:  {extract.ErrUnreachable, hintStarting},
		1089:  {extract.ErrUnreachable, hintStarting},
		1090:  {extract.ErrUnreachable, hintStarting},
		1109:  {extract.ErrUnreachable, hintStarting},
		2396:  {extract.ErrUnreachable, "the profile of {user} ends idle sessions"},
		2399:  {extract.ErrUnreachable, "the profile of {user} limits how long a session may last"},
		3113:  {extract.ErrUnreachable, hintLost},
		3114:  {extract.ErrUnreachable, hintLost},
		3135:  {extract.ErrUnreachable, hintLost},
		12154: {extract.ErrUnreachable, hintListener},
		12170: {extract.ErrUnreachable, hintListener},
		12505: {extract.ErrUnreachable, hintService},
		12506: {extract.ErrUnreachable, "the listener's access list refuses this host"},
		12514: {extract.ErrUnreachable, hintService},
		12526: {extract.ErrUnreachable, "the database is in restricted mode"},
		12527: {extract.ErrUnreachable, "the database is in restricted mode"},
		12528: {extract.ErrUnreachable, hintStarting},
		12537: {extract.ErrUnreachable, hintLost},
		12541: {extract.ErrUnreachable, hintListener},
		12545: {extract.ErrUnreachable, hintListener},
		12564: {extract.ErrUnreachable, hintListener},
		12571: {extract.ErrUnreachable, hintLost},

		1013: {extract.ErrQuery, "the statement was broken off by an administrator or a limit"},
		1722: {extract.ErrQuery, "the statement compares a text with a number: check where:"},
	}
}

// oraCode finds an ORA code in the text of an error that wraps others.
var oraCode = regexp.MustCompile(`ORA-(\d{5})`)

// serverError finds the server's own error, whichever client heard it.
func serverError(err error) (number int, text string, ok bool) {
	var driver *network.OracleError
	if errors.As(err, &driver) {
		return driver.ErrCode, driver.Error(), true
	}
	var thin *ttc.Error
	if errors.As(err, &thin) {
		return thin.Code, thin.Error(), true
	}
	return 0, "", false
}

// classify finds the row of the table for what the server said. Errors that only say where another happened
// (parallel server, recursive SQL) are classified by what they carry.
func classify(number int, text string) code {
	table := codes()
	if c, ok := table[number]; ok {
		return c
	}
	for _, m := range oraCode.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if c, ok := table[n]; ok && err == nil {
			return c
		}
	}
	return code{extract.ErrQuery, "check where:, hint: and the types of the columns; `plan` prints the statement"}
}

// isORA says whether err is one of these ORA codes.
func isORA(err error, numbers ...int) bool {
	number, _, ok := serverError(err)
	return ok && slices.Contains(numbers, number)
}

// fault is an error of the database, said in full: what was being done, what it means, what the server said and
// what to do about it.
func (c Config) fault(ctx context.Context, doing string, table *extract.TableName, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	if said(err) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	number, text, ok := serverError(err)
	if !ok {
		return c.networkFault(doing, err)
	}
	is := classify(number, text)
	name := "the table"
	if table != nil {
		name = quoteTable(*table)
	}
	hint := strings.NewReplacer("{user}", c.User, "{db}", c.String(), "{table}", name).Replace(is.hint)
	return fmt.Errorf("%s: %w: %s; %s%w", doing, is.is, oneLine(text), hint, quiet{err})
}

// said says whether err is one of the port's errors already: found by this package, not by the server or the network.
func said(err error) bool {
	for _, known := range []error{
		extract.ErrValue, extract.ErrShort, extract.ErrIdentity, extract.ErrUnsupported, extract.ErrNoTable, extract.ErrNoColumn,
		extract.ErrQuery, extract.ErrManifest, extract.ErrPrivilege, extract.ErrAuth,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func (c Config) networkFault(doing string, err error) error {
	what := err.Error()
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &dns):
		what = "host " + c.Host + " is not known; check host of " + c.String()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		what = "no answer in time; check host, port and the network to " + c.String()
	case errors.As(err, &dial) && dial.Op == "dial":
		what += "; check host and port of " + c.String() + ", and that the listener runs"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, driver.ErrBadConn), errors.Is(err, net.ErrClosed):
		what = hintLost
	}
	return fmt.Errorf("%s: %w: %s%w", doing, extract.ErrUnreachable, oneLine(what), quiet{err})
}

// quiet keeps the cause for errors.Is and errors.As without repeating its text.
type quiet struct{ err error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.err }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
