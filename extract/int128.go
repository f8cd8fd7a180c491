package extract

// Int128 is a signed 128-bit integer in two's complement: enough for every decimal of 38 digits.
type Int128 struct {
	Hi int64
	Lo uint64
}
