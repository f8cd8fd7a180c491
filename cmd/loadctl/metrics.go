package main

import (
	"math/big"

	"github.com/loadctl/loadctl/ledger"
)

// shownStages are the stages that a person compares. What was read (stream) and the sealed files are compared by the
// ledger before staging begins.
func shownStages() []ledger.Stage {
	return []ledger.Stage{ledger.StageSource, ledger.StageStream, ledger.StageSealed, ledger.StageStaging, ledger.StageTarget}
}

// metricRow is one metric with its value at each stage that measured it.
type metricRow struct {
	Column string
	Name   string
	Values map[ledger.Stage]*string
}

// sideBySide puts the metrics of the whole run beside each other, in the order of measuring.
func sideBySide(all []ledger.Measured) []metricRow {
	type key struct{ column, name string }
	at := map[key]int{}
	var rows []metricRow
	for _, stage := range shownStages() {
		for _, m := range all {
			if m.Stage != stage || m.Partition >= 0 {
				continue
			}
			k := key{m.Column, m.Name}
			i, ok := at[k]
			if !ok {
				i = len(rows)
				at[k] = i
				rows = append(rows, metricRow{m.Column, m.Name, map[ledger.Stage]*string{}})
			}
			rows[i].Values[stage] = m.Value
		}
	}
	return rows
}

// verdict compares the values of a row: "✓" all are equal, "✗" not, "" only one stage has measured it.
func (r metricRow) verdict() string {
	var first *string
	seen := 0
	for _, stage := range shownStages() {
		v, ok := r.Values[stage]
		if !ok {
			continue
		}
		if seen++; seen == 1 {
			first = v
		} else if !sameValue(first, v) {
			return "✗"
		}
	}
	if seen < 2 {
		return ""
	}
	return "✓"
}

// sameValue compares exactly: the same text, or the same decimal number.
func sameValue(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	if *a == *b {
		return true
	}
	x, okX := new(big.Rat).SetString(*a)
	y, okY := new(big.Rat).SetString(*b)
	return okX && okY && x.Cmp(y) == 0
}

// metricCount says how many metrics each side has.
type metricCount struct {
	Source  int `json:"source"`
	Staging int `json:"staging"`
	Target  int `json:"target"`
	Unequal int `json:"unequal"`
}

func countMetrics(all []ledger.Measured) (n metricCount) {
	for _, r := range sideBySide(all) {
		for stage, counter := range map[ledger.Stage]*int{
			ledger.StageSource: &n.Source, ledger.StageStaging: &n.Staging, ledger.StageTarget: &n.Target,
		} {
			if _, ok := r.Values[stage]; ok {
				*counter++
			}
		}
		if r.verdict() == "✗" {
			n.Unequal++
		}
	}
	return n
}
