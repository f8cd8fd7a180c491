package extract

// Shape tells how a slice is bounded.
type Shape string

// Shapes of slices.
const (
	Whole  Shape = "whole"  // every row of the query
	Range  Shape = "range"  // From <= column < Below; "" is open
	IsNull Shape = "isnull" // column IS NULL
)

// Slice is one part of a query's rows: a partition of the run. Slices of a plan are disjoint by construction
// and Measure proves that they are jointly complete. It is plain data, so that any process can build the same
// statement from it.
type Slice struct {
	ID     int    `json:"id"` // 0..n-1
	Shape  Shape  `json:"shape"`
	Column string `json:"column,omitempty"`
	Kind   Kind   `json:"kind,omitempty"`  // of the column: says how the bounds are written
	From   string `json:"from,omitempty"`  // canonical text, as in Metric
	Below  string `json:"below,omitempty"` // exclusive; the last slice is open above, the first one below
}

// Bounds are the extremes of a split column, in canonical text, and the number of rows and of NULLs.
type Bounds struct {
	Min, Max string // "" when there is no value
	Rows     int64
	Nulls    int64
}

// SliceCount is what Measure found in one slice.
type SliceCount struct {
	Slice   Slice    `json:"slice"`
	Rows    int64    `json:"rows"`
	Metrics []Metric `json:"metrics"`
}

// Manifest is a measured plan: every slice with its rows and metrics, the same for the whole, from one
// statement at one snapshot.
type Manifest struct {
	Slices []SliceCount `json:"slices"`
	Rows   int64        `json:"rows"`  // all rows of the query, counted beside the slices
	Stray  int64        `json:"stray"` // rows in no slice; a plan with any is refused
	Total  []Metric     `json:"total"`
}
