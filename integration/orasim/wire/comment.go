package wire

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// A client that is no test of ours sets faults in the text of its own statements, where Config.CommentFaults allows it:
//
//	SELECT /*orasim error code=1555 row=100*/ * FROM t
//
// The first word is the kind, the rest are the fields of Fault. A comment holds for every call of its statement.

// commentKinds are the faults that a comment may set.
func commentKinds() map[string]FaultKind {
	return map[string]FaultKind{
		"error": FaultError, "close": FaultClose, "reset": FaultReset, "half": FaultHalfPacket, "stall": FaultStall,
		"hold": FaultHold, "latency": FaultLatency, "drip": FaultDrip, "earlyend": FaultEarlyEnd,
		"damage": FaultDamage, "rowcount": FaultRowCount,
	}
}

var faultComment = regexp.MustCompile(`/\*orasim\s+([^*]*)\*/`)

// commentFaults returns the faults that a statement's comments set.
func commentFaults(text string) ([]*Armed, error) {
	var out []*Armed
	for _, m := range faultComment.FindAllStringSubmatch(text, -1) {
		f, err := parseFault(m[1])
		if err != nil {
			return nil, ora.Errorf(20000, "orasim comment: %s", err)
		}
		out = append(out, (&Faults{}).Set(f))
	}
	return out, nil
}

func parseFault(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("no kind of fault")
	}
	kind, ok := commentKinds()[words[0]]
	if !ok {
		return Fault{}, fmt.Errorf("unknown kind of fault %q", words[0])
	}
	f := Fault{Kind: kind}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if err := f.set(key, value); err != nil {
			return Fault{}, err
		}
	}
	return f, nil
}

// set gives a field its value by the name that it has in comments.
func (f *Fault) set(key, value string) error {
	switch key {
	case "late":
		f.Late = true
		return nil
	case "delay":
		d, err := time.ParseDuration(value)
		f.Delay = d
		return err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%s wants a whole number, not %q", key, value)
	}
	switch key {
	case "row":
		f.AtRow = n
	case "byte":
		f.AtByte = n
	case "code":
		f.Code = int(n)
	case "chunk":
		f.Chunk = int(n)
	case "rows":
		f.Rows = n
	case "seed":
		f.Seed = uint64(n)
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}
