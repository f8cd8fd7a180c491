package main

import (
	"os"
	"testing"

	"github.com/loadctl/loadctl/pipeline"
)

func TestDocumentIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != document() {
		t.Fatal("docs/errors.md differs from pipeline/class.go: run go generate ./cmd/loadctl")
	}
}

func TestEveryKindIsExplained(t *testing.T) {
	explained := map[pipeline.Kind]bool{}
	for _, k := range kinds() {
		explained[k.kind] = true
	}
	for _, c := range pipeline.Classes {
		if !explained[c.Kind] {
			t.Errorf("kind %s of class %s has no row", c.Kind, c.Code)
		}
	}
}
