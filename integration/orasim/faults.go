package orasim

import "github.com/loadctl/loadctl/integration/orasim/wire"

// The faults that tests set on Server.Faults, as data. See the wire package for what each field means.
type (
	Fault     = wire.Fault
	Match     = wire.Match
	FaultKind = wire.FaultKind
	Armed     = wire.Armed
)

// Kinds of faults.
const (
	FaultError      = wire.FaultError
	FaultClose      = wire.FaultClose
	FaultReset      = wire.FaultReset
	FaultHalfPacket = wire.FaultHalfPacket
	FaultStall      = wire.FaultStall
	FaultHold       = wire.FaultHold
	FaultLatency    = wire.FaultLatency
	FaultDrip       = wire.FaultDrip
	FaultEarlyEnd   = wire.FaultEarlyEnd
	FaultDamage     = wire.FaultDamage
	FaultRowCount   = wire.FaultRowCount
	FaultLogin      = wire.FaultLogin
)

// Password verifiers.
const (
	Verifier11g = wire.Verifier11g
	Verifier12c = wire.Verifier12c
)
