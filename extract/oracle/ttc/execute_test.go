package ttc

import (
	"slices"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

func TestTexts(t *testing.T) {
	server := serve(t, wire.Config{})
	s := connect(t, configOf(server))
	if err := s.Exec(t.Context(), "BEGIN DBMS_APPLICATION_INFO.SET_MODULE(:1, :2); DBMS_SESSION.SET_IDENTIFIER(:3); END;", true, "m", "a", "c"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Texts(t.Context(), "SELECT NULL, SYS_CONTEXT('USERENV', 'MODULE'), :1 FROM DUAL", "bound")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "m", "bound"}; len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("got %q, want %q", got, want)
	}
	script(t, server, "CREATE TABLE T (N NUMBER(5,2), S VARCHAR2(2000 CHAR), D DATE); INSERT INTO T VALUES (1.5, RPAD('x', 1000, '한'), DATE '2026-09-28'); INSERT INTO T VALUES (NULL, NULL, NULL);")
	rows, err := readTexts(t.Context(), s, Query{Text: "SELECT N, S, D FROM T", Fetch: 10, Columns: []extract.Column{
		{Name: "N", Type: extract.Type{Kind: extract.Decimal, Precision: 5, Scale: 2}},
		{Name: "S", Type: extract.Type{Kind: extract.Text}},
		{Name: "D", Type: extract.Type{Kind: extract.Timestamp}},
	}}, 0, 0)
	t.Logf("%.100q %v", rows, err)
}
