package wire

import "fmt"

// Piggyback codes: requests that ride in front of a function and get no reply.
const (
	pigCloseCursors  = 0x69
	pigCancelCursors = 0x78
	pigEndToEnd      = 0x87
	pigSetSchema     = 0x98
	pigContext       = 0x9A
	pigSessionState  = 0xB0
	pigClientFeature = 0xBF
	pigFreeLOBs      = 0x60
)

// Which fields of the end-to-end piggyback changed.
const (
	e2eClientID   = 0x0002
	e2eModule     = 0x0008
	e2eAction     = 0x0010
	e2eClientInfo = 0x0100
)

// endToEnd carries what a client says about the work it does; nil is unchanged.
type endToEnd struct{ ClientID, Module, Action, ClientInfo *string }

// piggyback reads and applies one piggyback. An unknown one cannot be skipped: it has no length.
func (s *session) piggyback() error {
	d := &s.dec
	code := d.u8()
	s.sequence()
	switch code {
	case pigCloseCursors:
		for _, id := range d.cursorList() {
			s.cursors.close(id)
		}
	case pigCancelCursors:
		for _, id := range d.cursorList() {
			s.cursors.cancel(id)
		}
	case pigEndToEnd:
		if e := d.endToEnd(); d.err == nil && s.sess != nil {
			s.sess.SetEndToEnd(e.Module, e.Action, e.ClientID, e.ClientInfo)
		}
	case pigSetSchema:
		d.u8()
		name := string(d.chr(d.count(maxText)))
		if d.err == nil && s.sess != nil {
			s.sess.SetCurrentSchema(name)
		}
	case pigContext:
		d.applicationContext()
	case pigSessionState:
		d.uint()
	case pigClientFeature:
		d.u8()
		n := d.count(maxText)
		d.u8()
		d.chr(n)
	case pigFreeLOBs:
		s.lobs.freeAll(d.freeLOBs())
	default:
		return fmt.Errorf("%w: unknown piggyback %#x", errDecode, code)
	}
	return d.err
}

func (d *decoder) cursorList() []uint32 {
	d.u8()
	n := d.count(maxBinds)
	var ids []uint32
	for i := 0; i < n && d.err == nil; i++ {
		ids = append(ids, d.u32())
	}
	if d.err != nil {
		return nil
	}
	return ids
}

// pointer reads "is there something" and its length.
func (d *decoder) pointer() (present bool, n int) {
	present = d.u8() != 0
	return present, d.count(maxText)
}

func (d *decoder) endToEnd() endToEnd {
	d.skip(2)
	flags := d.u32()
	var there [9]bool
	var size [9]int
	for i := range there {
		there[i], size[i] = d.pointer()
	}
	text := func(at int, flag uint32) *string {
		var v string
		if there[at] {
			v = string(d.chr(size[at]))
		}
		if !there[at] && flags&flag == 0 {
			return nil
		}
		return &v
	}
	// The strings follow in the order of their lengths; 3, 4, 6 and 7 are never sent.
	var e endToEnd
	e.ClientID = text(0, e2eClientID)
	e.Module = text(1, e2eModule)
	e.Action = text(2, e2eAction)
	e.ClientInfo = text(5, e2eClientInfo)
	text(8, 0) // database operation
	return e
}

func (d *decoder) applicationContext() {
	hasName := d.u8() != 0
	nameLen := d.count(maxText)
	d.u8()
	n := d.count(maxBinds)
	d.uint()
	d.u8()
	if hasName {
		d.chr(nameLen)
	}
	for i := 0; i < n && d.err == nil; i++ {
		d.dalc()
		d.dalc()
		d.uint()
	}
}

// freeLOBs reads the locators of temporary LOBs that the client needs no more.
func (d *decoder) freeLOBs() []byte {
	d.u8()
	locators := d.count(maxField)
	d.u8()
	for range 3 {
		d.uint()
	}
	d.skip(3)
	d.uint() // operation
	d.u8()
	for range 3 {
		d.uint()
	}
	d.u8()
	for range 3 {
		d.u8()
		d.uint()
	}
	return d.raw(locators)
}
