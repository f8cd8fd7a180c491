package orasim

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplitScript(t *testing.T) {
	script := `-- users; first
CREATE USER app IDENTIFIED BY "x;y";
/* nothing; here */
INSERT INTO t VALUES ('a;b''c', q'[d;'e]') /* f; */;;
  -- a note; with a semicolon
SELECT 4
  / 2 FROM dual
/
BEGIN
  a := 1; b := 2;
END;
/
commit`
	statements, err := splitScript(script)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, st := range statements {
		got = append(got, fmt.Sprintf("%d: %s", st.line, strings.Join(strings.Fields(st.text), " ")))
	}
	want := []string{
		`2: CREATE USER app IDENTIFIED BY "x;y"`,
		`4: INSERT INTO t VALUES ('a;b''c', q'[d;'e]') /* f; */`,
		`6: SELECT 4 / 2 FROM dual`,
		`9: BEGIN a := 1; b := 2; END;`,
		`13: commit`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSplitScriptFindsWhatIsNotClosed(t *testing.T) {
	for _, script := range []string{"SELECT 1;\nSELECT 'a", "x\n/* a", "y\nq'[a]"} {
		if _, err := splitScript(script); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: got %v, want an error on line 2", script, err)
		}
	}
}
