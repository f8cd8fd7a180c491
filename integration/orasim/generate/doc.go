// Package generate makes tables whose rows are computed: every value is a pure function of its column, the
// row's number and a seed, so that a hundred million rows take no memory, any slice of them can be read
// without the rest, and counts, sums and extremes are known without reading any.
//
// A column is either a Sequence, which counts on for ever, or it repeats after Cycle rows: the values of one
// cycle are made once, encoded, and shared. So a row costs a lookup and the digits of its key, and the totals
// of a range are whole cycles plus a piece of one (Totals). A reader cannot tell the repetition from chance: it
// is wider than any page, fetch or compression window.
package generate
