package generate

import (
	"bytes"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Totals is what COUNT(column), SUM(column), MIN(column) and MAX(column) are over some rows.
type Totals struct {
	Count    int64
	Sum      ora.Num   // NUMBER columns
	Min, Max ora.Value // nil when Count is 0; byte order, which is that of every type but TIMESTAMP WITH TIME ZONE
}

// columnSums are the running totals of a column over the cycle: element n is of the rows before n.
type columnSums struct {
	count []int64
	sum   []ora.Num // NUMBER columns
}

func (t *Table) prefixSums() []columnSums {
	all := make([]columnSums, len(t.columns))
	for i := range t.columns {
		s := &all[i]
		s.count = make([]int64, Cycle+1)
		if t.columns[i].Type.Code == ora.Number {
			s.sum = make([]ora.Num, Cycle+1)
		}
		for n, row := range t.cycle {
			s.add(n, row[i])
		}
	}
	return all
}

func (s *columnSums) add(n int, v ora.Value) {
	s.count[n+1] = s.count[n]
	if len(v) > 0 {
		s.count[n+1]++
	}
	if s.sum == nil {
		return
	}
	s.sum[n+1] = s.sum[n]
	if len(v) > 0 {
		s.sum[n+1] = must(s.sum[n].Add(must(ora.DecodeNumber(v))))
	}
}

// must is for arithmetic that cannot leave the range of NUMBER here, on values of our own.
func must(x ora.Num, err error) ora.Num {
	if err != nil {
		panic(err)
	}
	return x
}

// Totals adds up a column over the rows from one number up to another, without reading them: a Sequence is an
// arithmetic series, anything else whole cycles and the ends.
func (t *Table) Totals(column int, from, to int64) Totals {
	from, to = max(from, 0), min(to, t.rows)
	if from >= to {
		return Totals{}
	}
	if s, ok := t.columns[column].Rule.(Sequence); ok {
		return s.totals(from, to)
	}
	sums := &t.sums[column]
	total := Totals{Count: sums.countBefore(to) - sums.countBefore(from)}
	if sums.sum != nil {
		total.Sum = must(sums.sumBefore(to).Sub(sums.sumBefore(from)))
	}
	total.Min, total.Max = t.extremes(column, from, to)
	return total
}

func (s Sequence) totals(from, to int64) Totals {
	first, last := s.Start+from*s.Step, s.Start+(to-1)*s.Step
	ends := must(ora.NumFromInt(first).Add(ora.NumFromInt(last)))
	sum := must(must(ends.Mul(ora.NumFromInt(to - from))).Div(ora.NumFromInt(2)))
	low, high := min(first, last), max(first, last)
	return Totals{to - from, sum, ora.EncodeInt(low), ora.EncodeInt(high)}
}

func (s *columnSums) countBefore(n int64) int64 {
	return n/Cycle*s.count[Cycle] + s.count[n%Cycle]
}

func (s *columnSums) sumBefore(n int64) ora.Num {
	whole := must(s.sum[Cycle].Mul(ora.NumFromInt(n / Cycle)))
	return must(whole.Add(s.sum[n%Cycle]))
}

func (t *Table) extremes(column int, from, to int64) (low, high ora.Value) {
	for n := from; n < min(to, from+Cycle); n++ {
		v := t.cycle[n%Cycle][column]
		if len(v) == 0 {
			continue
		}
		if low == nil || bytes.Compare(v, low) < 0 {
			low = v
		}
		if high == nil || bytes.Compare(v, high) > 0 {
			high = v
		}
	}
	return low, high
}
