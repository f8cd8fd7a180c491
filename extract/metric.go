package extract

// What names one thing that is measured of a column, or of the table.
type What string

// Measures. Each is a value that the source and the warehouse can both compute exactly; never a sum of floats,
// never an order of texts.
const (
	Rows    What = "rows"    // of the table: Column is ""
	NonNull What = "nonnull" // values that are not NULL
	Sum     What = "sum"     // decimals: exact sum
	Min     What = "min"     // decimals and timestamps
	Max     What = "max"
	// Checksum is computed by a warehouse only, by one expression on staging and target: a sum of checksums of
	// a canonical text of every value.
	Checksum What = "checksum"
)

// Measure is one thing to compute.
type Measure struct {
	Column string `json:"column"` // exact source name; "" for the table
	Type   Type   `json:"type"`
	What   What   `json:"what"`
}

// Metric is one computed value, in canonical text: integers and decimals as digits with exactly the column's
// scale ("71853075.00"), timestamps as "2006-01-02 15:04:05" with the fraction appended, without trailing
// zeros, when it is not zero. Null tells that there was nothing to compute from (the sum of no values).
type Metric struct {
	Column string `json:"column"`
	What   What   `json:"what"`
	Value  string `json:"value"`
	Null   bool   `json:"null,omitempty"`
}
