package wire

import (
	"strings"
	"sync"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// FaultKind says what goes wrong.
type FaultKind uint8

// The faults. "Row n" means: when exactly n rows of the statement's result have been sent.
const (
	// FaultError answers ORA-Code at row AtRow; of the reply being built nothing is delivered but what had
	// already left in full packets. Code 28 also ends the session.
	FaultError FaultKind = iota + 1
	// FaultClose delivers AtRow rows (or AtByte bytes) and closes the socket in an orderly way.
	FaultClose
	// FaultReset is FaultClose by a TCP reset.
	FaultReset
	// FaultHalfPacket delivers AtRow rows, then half of a packet, then closes. With AtByte it is FaultClose.
	FaultHalfPacket
	// FaultStall delivers AtRow rows and then nothing until Release, or until the client is gone. It does not
	// answer a break, like a network that died without a word.
	FaultStall
	// FaultHold delivers no row after AtRow until Release, like a server that computes for long: unlike
	// FaultStall it answers a break, with ORA-01013. Rows of the reply being built are lost with it.
	FaultHold
	// FaultLatency waits Delay in every round trip.
	FaultLatency
	// FaultDrip sends Chunk bytes (default 1) per Delay.
	FaultDrip
	// FaultEarlyEnd delivers AtRow rows and then replies without a row, an error or ORA-01403, which no real
	// server does and which go-ora takes for the end of the data.
	FaultEarlyEnd
	// FaultDamage changes one bit in one value of row AtRow (counted from 0); Seed picks the column and the bit.
	// Nothing in the protocol tells.
	FaultDamage
	// FaultRowCount reports Rows as the number of rows affected or fetched.
	FaultRowCount
	// FaultLogin refuses a login with Code: at once and as the listener does for 12500..12599, else after the
	// password was checked. Match.SQL is not looked at.
	FaultLogin
)

// Match says where a fault applies; zero fields match everything.
type Match struct {
	Session uint32 // SID
	User    string // compared without case
	// SQL is a part of the statement's text, compared without case. Calls without a statement have the texts
	// COMMIT, ROLLBACK, PING, LOGOFF and LOB (reading and writing through a locator).
	SQL string
}

// Fault is something that a test wants to go wrong. It is plain data.
type Fault struct {
	Match Match
	Kind  FaultKind

	AtRow  int64 // FaultError, Close, Reset, HalfPacket, Stall, Hold, EarlyEnd, Damage
	AtByte int64 // Close, Reset: bytes sent since the statement was executed; 0: AtRow decides
	// Late makes Error, Close, Reset, HalfPacket, Stall and Hold strike after a statement without rows, or a commit,
	// has had its effect and before its answer is sent. Queries have no such moment.
	Late bool

	Code  int           // Error, Login: the ORA code
	Text  string        // its text; default "injected fault"
	Delay time.Duration // Latency, Drip
	Chunk int           // Drip: bytes per delay
	Rows  int64         // RowCount
	Seed  uint64        // Damage

	Skip  int // let this many chances pass first
	Times int // strike so often; 0: always
}

func (f *Fault) err() *ora.Error {
	text := f.Text
	if text == "" {
		text = "injected fault"
	}
	return ora.Errorf(f.Code, "%s", text)
}

// Faults is the set of faults of a server. Safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	armed []*Armed
}

// Armed is a fault that was set.
type Armed struct {
	Fault
	owner    *Faults
	left     int // strikes left; negative: endless
	skip     int
	struck   int
	hit      chan struct{}
	released chan struct{}
}

// Set arms a fault. Where several apply, the one set first strikes first.
func (f *Faults) Set(x Fault) *Armed {
	a := &Armed{Fault: x, owner: f, left: x.Times, skip: x.Skip, hit: make(chan struct{}), released: make(chan struct{})}
	if x.Times == 0 {
		a.left = -1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = append(f.armed, a)
	return a
}

// Clear removes all faults and releases the stalled.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.armed {
		a.release()
	}
	f.armed = nil
}

// Hit is closed when the fault strikes for the first time.
func (a *Armed) Hit() <-chan struct{} { return a.hit }

// Struck counts the strikes so far.
func (a *Armed) Struck() int {
	a.owner.mu.Lock()
	defer a.owner.mu.Unlock()
	return a.struck
}

// Release lets everyone go on whom a FaultStall holds, and disarms the fault.
func (a *Armed) Release() {
	a.owner.mu.Lock()
	defer a.owner.mu.Unlock()
	a.left = 0
	a.release()
}

func (a *Armed) release() {
	select {
	case <-a.released:
	default:
		close(a.released)
	}
}

// fire uses up one chance and says whether the fault strikes.
func (a *Armed) fire() bool {
	a.owner.mu.Lock()
	defer a.owner.mu.Unlock()
	switch {
	case a.left == 0:
		return false
	case a.skip > 0:
		a.skip--
		return false
	}
	if a.left > 0 {
		a.left--
	}
	if a.struck++; a.struck == 1 {
		close(a.hit)
	}
	return true
}

// matching returns the armed faults that apply to a call.
func (f *Faults) matching(sid uint32, user, sql string) []*Armed {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Armed
	for _, a := range f.armed {
		if a.left != 0 && a.Match.covers(sid, user, sql) {
			out = append(out, a)
		}
	}
	return out
}

func (m Match) covers(sid uint32, user, sql string) bool {
	return (m.Session == 0 || m.Session == sid) &&
		(m.User == "" || strings.EqualFold(m.User, user)) &&
		(m.SQL == "" || strings.Contains(strings.ToUpper(sql), strings.ToUpper(m.SQL)))
}

// login returns the error of a FaultLogin that applies, listener's or server's.
func (f *Faults) login(user string, listener bool) *ora.Error {
	for _, a := range f.matching(0, user, "") {
		atListener := a.Code >= 12500 && a.Code <= 12599
		if a.Kind == FaultLogin && atListener == listener && a.fire() {
			return a.err()
		}
	}
	return nil
}
