package wire

// caps is what a client said of itself in DATA TYPES. It decides layouts in both directions.
type caps struct {
	fieldVersion int  // min of the client's and ours
	chrIsCLR     bool // character fields of known length are CLRs, else bare bytes
	bigCLR       bool // chunk lengths inside a CLR are universal integers, else one byte
	sb1Universal bool // SB1 fields are universal integers, else one byte
}

// TTC field versions at which layouts change.
const (
	version122    = 8  // 12.2
	version122ext = 9  // 12.2 extended
	version181ext = 11 // 18.1 extended
	version191    = 12 // 19.1, what we offer
	version201    = 14 // 20.1
	version231    = 17
	version231p1  = 18
	version233    = 20
	version234    = 24
)

// Positions in the compile-time capabilities and the bits that we test.
const (
	capFieldVersion = 7
	capTTC2         = 26 // 0x01: the national charset id follows in DATA TYPES
	capTypeNumbers  = 27 // 1: type numbers are two bytes
	capTTC3         = 37 // 0x20 big CLR chunks, 0x02 time zone version exchanged
	capZone         = 1  // run-time capability; 0x01: the time zone block is exchanged
)

// serverCaps are the compile-time capabilities of a 19c server.
func serverCaps(fieldVersion int) []byte {
	c := []byte{
		0x06, 0x01, 0x01, 0x01, 0x6F, 0x07, 0x01, 0x00, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x7F, 0xFF, 0x03, 0x0E, 0x03, 0x03,
		0x01, 0x01, 0xFF, 0x01, 0xFF, 0xFF, 0x01, 0x0B, 0x01, 0x01, 0xFF, 0x01, 0x06, 0x0B, 0xE2, 0x01, 0x7F, 0x05, 0x0F, 0x0F, 0x0D,
	}
	c[capFieldVersion] = byte(fieldVersion)
	return c
}

// serverRuntimeCaps are those of 19c without 32K strings. The second byte must have bit 0 (time zone block
// exchanged) or go-ora asks for the zone by a query before it has logged in.
func serverRuntimeCaps() []byte { return []byte{0x02, 0x01, 0x00, 0x01, 0x18, 0x00, 0x73} }

// has tests a bit of a capability list of any length.
func has(list []byte, at int, bit byte) bool { return at < len(list) && list[at]&bit != 0 }

// Character set ids.
const (
	charsetUTF8  = 873  // AL32UTF8, the database character set
	charsetUTF16 = 2000 // AL16UTF16, the national one
)
