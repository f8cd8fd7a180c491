package sql

import (
	"context"
	"testing"
)

func TestWindowFunctions(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE w (k NUMBER, g VARCHAR2(1), v NUMBER)",
		"INSERT INTO w SELECT LEVEL, DECODE(MOD(LEVEL, 2), 0, 'a', 'b'), DECODE(LEVEL, 4, NULL, MOD(LEVEL * 7, 5)) FROM DUAL CONNECT BY LEVEL <= 7")
	// k|g|v: 1|b|2 2|a|4 3|b|1 4|a|NULL 5|b|0 6|a|2 7|b|4
	for _, c := range []struct{ expr, want string }{
		{"ROW_NUMBER() OVER (ORDER BY k DESC)", "7 6 5 4 3 2 1"},
		{"ROW_NUMBER() OVER (PARTITION BY g ORDER BY v)", "3 2 2 3 1 1 4"},
		{"RANK() OVER (ORDER BY v)", "3 5 2 7 1 3 5"},
		{"DENSE_RANK() OVER (ORDER BY v DESC NULLS LAST)", "2 1 3 5 4 2 1"},
		{"NTILE(3) OVER (ORDER BY k)", "1 1 1 2 2 3 3"},
		{"NTILE(9) OVER (ORDER BY k)", "1 2 3 4 5 6 7"},
		{"COUNT(*) OVER ()", "7 7 7 7 7 7 7"},
		{"COUNT(v) OVER (PARTITION BY g)", "4 2 4 2 4 2 4"},
		{"SUM(v) OVER (ORDER BY g)", "13 6 13 6 13 6 13"},
		{"SUM(v) OVER (PARTITION BY g ORDER BY k)", "2 4 3 4 3 6 7"},
		{"SUM(1) OVER (ORDER BY g ROWS UNBOUNDED PRECEDING)", "4 1 5 2 6 3 7"},
		{"MAX(v) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) - v", `2 0 3 \N 4 2 0`},
		{"LAG(k) OVER (ORDER BY k)", `\N 1 2 3 4 5 6`},
		{"LEAD(k, 2, 0) OVER (ORDER BY k)", "3 4 5 6 7 0 0"},
		{"FIRST_VALUE(k) OVER (PARTITION BY g ORDER BY k)", "1 2 1 2 1 2 1"},
		{"LAST_VALUE(k) OVER (PARTITION BY g)", "7 6 7 6 7 6 7"},
	} {
		list, err := s.Query(context.Background(), "SELECT "+c.expr+" FROM w ORDER BY k")
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		got := ""
		for i, row := range list {
			if i > 0 {
				got += " "
			}
			got += row[0]
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.expr, got, c.want)
		}
	}
	if got := rowsOf(t, s, "SELECT g, SUM(COUNT(*)) OVER (ORDER BY g) FROM w GROUP BY g ORDER BY 1"); got != "a|3\nb|7" {
		t.Errorf("over groups: got %s", got)
	}
	if got := rowsOf(t, s, "SELECT * FROM (SELECT k, ROW_NUMBER() OVER (ORDER BY v) r FROM w WHERE ROWNUM <= 5) WHERE r = 2"); got != "3|2" {
		t.Errorf("in a subquery: got %s", got)
	}
	for text, code := range map[string]int{
		"SELECT k FROM w WHERE RANK() OVER (ORDER BY k) = 1":                              30483,
		"SELECT SUM(COUNT(*) OVER ()) FROM w":                                             30483,
		"SELECT ROW_NUMBER() OVER () FROM w":                                              30485,
		"SELECT NTILE(0) OVER (ORDER BY k) FROM w":                                        30494,
		"SELECT SUM(v) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM w": 3001,
	} {
		if _, err := s.Query(context.Background(), text); codeOf(t, err) != code {
			t.Errorf("%s: got %v, want ORA-%05d", text, err, code)
		}
	}
}
