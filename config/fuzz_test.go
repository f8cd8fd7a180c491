package config

import (
	"os"
	"strings"
	"testing"
)

func seeds(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, file := range []string{"example/loadd.yaml", "example/jobs/insp_dtl.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text, commented.ReplaceAll(text, []byte("$1$2")))
	}
	for _, s := range []string{"", "a", "- - -", "? a\n: b", "{", "[[[[", "a: &x *x", "!!binary x", "<<: 1", "a: |\n", "%YAML 9\n---\n", "job: >-\n  a\n", "...\n", "a: \"\\", "a: [1,\n", ": :", "'", "&", "*", "a:\n- b\n c: d"} {
		out = append(out, []byte(s))
	}
	return out
}

func FuzzDecode(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text []byte) { decodeBoth(t, text) })
}

// decodeBoth reads text as either kind of file, and demands that a file that cannot be read says why.
func decodeBoth(t *testing.T, text []byte) {
	t.Helper()
	var daemon Daemon
	var job Job
	for _, root := range []any{&daemon, &job} {
		doc := newDocument("f", root)
		if ok := doc.decode(text); !ok && len(doc.faults) == 0 {
			t.Errorf("%q is refused without a word", text)
		}
		checkDaemon(doc, &daemon)
		checkJob(doc, &job, &daemon)
		for _, fault := range doc.faults {
			if fault.Line < 0 || fault.Column < 0 || fault.Message == "" {
				t.Errorf("%q: fault %+v", text, fault)
			}
		}
	}
}

// The examples cut off or damaged anywhere.
func TestDamagedFiles(t *testing.T) {
	for _, text := range seeds(t) {
		for i := 0; i < len(text); i += 1 + len(text)/23 {
			decodeBoth(t, text[:i])
			for _, c := range []byte(":{\"\n") {
				damaged := append([]byte(nil), text...)
				damaged[i] = c
				decodeBoth(t, damaged)
			}
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"A >= :date", "A = q'[x]' AND (B)", "'", "q'", "nq'(", "A;", "\"", "금액 = 1", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e Expression
		if e.UnmarshalText([]byte(text)) == nil && e.String() != strings.TrimSpace(text) {
			t.Errorf("%q is read as %q", text, e)
		}
		tokens, err := lex(text)
		if err != nil {
			return
		}
		var joined strings.Builder
		for _, tok := range tokens {
			joined.WriteString(tok.text)
		}
		if joined.String() != text {
			t.Errorf("%q is cut into %+v", text, tokens)
		}
	})
}
