package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing wrong in a file, or a warning about one.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 when it is about the whole file
	Column  int    `json:"column"` // from 1, in characters
	Path    string `json:"path"`   // of the setting, as in split.partitions
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String is the fault on one line: file:line:column: path: message (hint).
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	b.WriteString(": " + f.Message)
	if f.Hint != "" {
		b.WriteString(" (" + f.Hint + ")")
	}
	return b.String()
}

// Faults are all that is wrong, in the order of files and lines. They are the error of Load.
type Faults []Fault

// Error is one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// orNil is the faults as an error, nil when there are none: a nil Faults in an error is not a nil error.
func (fs Faults) orNil() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

// refusal is why a value is not accepted; the decoder adds where.
type refusal struct{ message, advice string }

func refuse(format string, args ...any) *refusal {
	return &refusal{message: fmt.Sprintf(format, args...)}
}

func (r *refusal) hint(text string) *refusal {
	r.advice = text
	return r
}

func (r *refusal) Error() string {
	if r.advice == "" {
		return r.message
	}
	return r.message + " (" + r.advice + ")"
}
