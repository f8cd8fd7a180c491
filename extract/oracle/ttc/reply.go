package ttc

import "fmt"

// ending is the record that ends a call (OER).
type ending struct {
	code     int
	cursor   int
	position int
	rows     int64 // of the cursor, over all its fetches
	message  string
}

// Codes that mean more than an error.
const (
	codeNoMoreRows = 1403
	codeBrokenOff  = 1013
)

// fault is the error that a call ended with.
func (e ending) fault() error {
	if e.code == 0 {
		return nil
	}
	message := e.message
	if message == "" {
		message = fmt.Sprintf("ORA-%05d", e.code)
	}
	return &Error{Code: e.code, Position: e.position, Message: message}
}

// end reads the ending. ok is false when it is void: broken off, or an error of the session.
func (s *Session) end() (e ending, ok bool) {
	in := s.in
	in.skip(1)
	s.callStatusFields()
	in.ints(4) // row number, code of 16 bits, two array elements
	e.cursor = int(in.int())
	e.position = int(in.int())
	in.skip(2) // kind of statement, fatal
	in.ints(2) // flags, options of the cursor
	in.skip(2)
	in.ints(2) // row id
	in.skip(1)
	in.ints(3)
	in.skip(2)
	in.ints(2)
	in.dalc()
	s.batchErrors()
	e.code = int(in.int())
	e.rows = in.int()
	if e.code != 0 {
		e.message = string(in.clr())
	}
	if in.void || in.err != nil {
		return ending{}, false
	}
	if e.code == codeBrokenOff {
		s.link.calm()
	}
	return e, true
}

func (s *Session) callStatusFields() {
	if s.callStatus {
		s.in.int()
	}
	if s.endToEnd {
		s.in.int()
	}
}

// batchErrors reads the errors of an array DML, of which we send none.
func (s *Session) batchErrors() {
	in := s.in
	if n := in.count(1 << 16); n > 0 {
		in.array(n)
	}
	if n := in.count(1 << 20); n > 0 {
		in.array(n)
	}
	if n := in.count(1 << 16); n > 0 {
		in.skip(1)
		for ; n > 0 && in.err == nil && !in.void; n-- {
			in.int()
			in.clr()
			in.skip(2)
		}
	}
}

// array reads n integers in one of the two forms of an array.
func (in *input) array(n int) {
	long := in.u1() == longString
	for ; n > 0 && in.err == nil && !in.void; n-- {
		if long && in.bigChunk {
			in.int()
		} else if long {
			in.skip(1)
		}
		in.int()
	}
	if long {
		in.skip(1)
	}
}

// other reads a message that may stand before the end of any reply and that we do not act on.
func (s *Session) other(message byte) error {
	in := s.in
	in.skip(1)
	switch message {
	case msgParameters:
		in.parameters()
	case msgStatus:
		s.callStatusFields()
	case msgWarning:
		in.warning()
	case msgIOVector:
		in.ioVector()
	case msgServerSide:
		in.serverPiggyback()
	default:
		in.confused("message %d", message)
	}
	return in.err
}

func (in *input) parameters() {
	in.ints(in.count(64)) // SCN, cursor
	in.int()
	for n := in.count(1024); n > 0; n-- {
		in.pair()
	}
	in.skip(in.count(1 << 20)) // registration
}

func (in *input) warning() {
	code, length := in.int(), in.int()
	in.int()
	if code != 0 && length != 0 {
		in.clr()
	}
}

// ioVector says which binds of a block come back: none, as ours are all IN.
func (in *input) ioVector() {
	in.skip(1)
	low, high := in.count(0xFFFF), in.count(0xFFFF)
	in.ints(2)             // iterations, length of a buffer
	in.skip(in.count(512)) // bit vector
	in.skip(in.count(512)) // row id
	in.skip(high<<8 + low)
}

// Kinds of what a server adds to a reply unasked.
const (
	sideCacheInvalid  = 1
	sideProcess       = 2
	sideReturnValues  = 4
	sideSessionSync   = 5
	sideTransactionID = 7
	sideReplayContext = 8
	sideExtendedSync  = 9
)

func (in *input) serverPiggyback() {
	const most = 4096
	switch kind := in.u1(); kind {
	case sideCacheInvalid:
	case sideProcess:
		n := in.count(most)
		in.skip(1 + n)
	case sideReturnValues:
		in.int()
		in.skip(1)
		if n := in.count(most); n > 0 {
			in.skip(1)
			in.keywords(n)
		}
		in.ints(3)
	case sideSessionSync:
		in.int()
		in.skip(1)
		n := in.count(most)
		in.skip(1)
		in.keywords(n)
		in.int()
	case sideTransactionID:
		in.int()
		in.clr()
	case sideReplayContext:
		in.int()
		in.skip(1)
		in.int()
		in.int()
		in.skip(1)
		in.dalc()
	case sideExtendedSync:
		in.int()
		in.skip(1)
	default:
		in.confused("a piggyback of kind %d", kind)
	}
}

func (in *input) keywords(n int) {
	for ; n > 0 && in.err == nil && !in.void; n-- {
		in.dalc()
		in.dalc()
		in.int()
	}
}
