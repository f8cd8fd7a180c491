package referee

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	_ "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"
)

// cancelAfter is how far into a call that the server holds a cancel comes.
const cancelAfter = 300 * time.Millisecond

// goOraClient runs steps with go-ora, as the programs in clients do with theirs. Each session is a pool of one.
type goOraClient struct {
	plan plan
	open map[string]*sql.DB
	txs  map[int]*sql.Tx
}

func runGoOra(p plan) ([]answer, error) {
	c := &goOraClient{plan: p, open: map[string]*sql.DB{}, txs: map[int]*sql.Tx{}}
	defer c.close()
	var answers []answer
	for _, s := range p.Steps {
		answers = append(answers, c.run(s))
	}
	return answers, nil
}

func (c *goOraClient) close() {
	for _, tx := range c.txs {
		_ = tx.Rollback()
	}
	for _, db := range c.open {
		_ = db.Close()
	}
}

func (c *goOraClient) url(s step, options string) string {
	or := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	u := url.URL{
		Scheme: "oracle", Host: fmt.Sprintf("%s:%d", c.plan.Host, c.plan.Port), Path: "/" + or(s.Service, c.plan.Service),
		User: url.UserPassword(or(s.User, c.plan.User), or(s.Password, c.plan.Password)), RawQuery: options,
	}
	return u.String()
}

// pool returns the session's pool. How many rows to fetch, and how LOBs travel, are properties of a connection here,
// so a session with other wishes is another connection.
func (c *goOraClient) pool(s step) (*sql.DB, error) {
	options := url.Values{}
	if s.Fetch > 0 {
		options.Set("PREFETCH_ROWS", strconv.Itoa(s.Fetch))
	}
	if s.Locator {
		options.Set("LOB FETCH", "POST")
	}
	key := fmt.Sprint(s.Session, options.Encode())
	if db := c.open[key]; db != nil {
		return db, nil
	}
	db, err := sql.Open("oracle", c.url(s, options.Encode()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c.open[key] = db
	return db, nil
}

// tx is the transaction of a session, begun where there is none.
func (c *goOraClient) tx(s step) (*sql.Tx, error) {
	if tx := c.txs[s.Session]; tx != nil {
		return tx, nil
	}
	s.Fetch, s.Locator = 0, false
	db, err := c.pool(s)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err == nil {
		c.txs[s.Session] = tx
	}
	return tx, err
}

func (c *goOraClient) run(s step) answer {
	a, err := c.do(s)
	if err == nil {
		return a
	}
	a.Error, a.Message, a.Position = -1, err.Error(), -1
	var e *network.OracleError
	if errors.As(err, &e) {
		a.Error, a.Position = e.ErrCode, e.ErrPos()
	}
	return a
}

func (c *goOraClient) do(s step) (answer, error) {
	switch s.Do {
	case "query":
		return c.query(s)
	case "exec":
		tx, err := c.tx(s)
		if err != nil {
			return answer{}, err
		}
		return affected(tx.Exec(s.SQL, values(s.Binds)...))
	case "batch":
		return c.batch(s)
	case "commit", "rollback":
		return answer{}, c.finish(s)
	case "login":
		db, err := sql.Open("oracle", c.url(s, ""))
		if err != nil {
			return answer{}, err
		}
		defer func() { _ = db.Close() }()
		return answer{}, db.Ping()
	case "sessions_in_turn":
		return c.sessionsInTurn(s)
	case "interleave":
		return c.interleave(s)
	}
	return answer{}, fmt.Errorf("unknown step %q", s.Do)
}

func affected(r sql.Result, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	n, err := r.RowsAffected()
	return answer{Affected: n}, err
}

// batch binds arrays.
func (c *goOraClient) batch(s step) (answer, error) {
	tx, err := c.tx(s)
	if err != nil {
		return answer{}, err
	}
	var columns []any
	for i := range s.Rows[0] {
		var column []any
		for _, row := range s.Rows {
			column = append(column, values(row[i : i+1])[0])
		}
		columns = append(columns, column)
	}
	return affected(tx.Exec(s.SQL, columns...))
}

func (c *goOraClient) finish(s step) error {
	tx := c.txs[s.Session]
	delete(c.txs, s.Session)
	switch {
	case tx == nil:
		return nil
	case s.Do == "commit":
		return tx.Commit()
	}
	return tx.Rollback()
}

func (c *goOraClient) query(s step) (answer, error) {
	ctx := context.Background()
	if s.Cancel {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cancelAfter)
		defer cancel()
	}
	rows, err := c.rows(ctx, s)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return answer{}, err
	}
	a := answer{Columns: columns}
	for rows.Next() {
		row, err := scanned(rows)
		if err != nil {
			return a, err
		}
		a.Rows = append(a.Rows, row)
	}
	return a, rows.Err()
}

// rows runs a query inside the session's transaction, if one is open there.
func (c *goOraClient) rows(ctx context.Context, s step) (*sql.Rows, error) {
	if tx := c.txs[s.Session]; tx != nil {
		return tx.QueryContext(ctx, s.SQL, values(s.Binds)...)
	}
	db, err := c.pool(s)
	if err != nil {
		return nil, err
	}
	return db.QueryContext(ctx, s.SQL, values(s.Binds)...)
}

func scanned(rows *sql.Rows) ([]*string, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(types))
	for i := range values {
		values[i] = new(any)
	}
	if err := rows.Scan(values...); err != nil {
		return nil, err
	}
	row := make([]*string, len(types))
	for i := range values {
		row[i] = text(*values[i].(*any))
	}
	return row, nil
}

func text(v any) *string {
	var s string
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		s = v
	case []byte:
		if v == nil {
			return nil
		}
		s = fmt.Sprintf("%X", v)
	case time.Time:
		s = v.Format("2006-01-02 15:04:05.999999999 -07:00")
	default:
		s = fmt.Sprint(v)
	}
	return &s
}

func values(binds []bind) []any {
	var out []any
	for _, b := range binds {
		out = append(out, b.goValue())
	}
	return out
}

func (b bind) goValue() any {
	if b.Value == nil {
		return ""
	}
	v, err := parseBind(b.Type, *b.Value)
	if err != nil {
		panic(err) // a check with a bind that is none
	}
	return v
}

func parseBind(kind, v string) (any, error) {
	switch kind {
	case "number":
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(v, 64)
	case "date":
		return time.Parse("2006-01-02T15:04:05", v)
	case "raw":
		return hex.DecodeString(v)
	}
	return v, nil
}

func (c *goOraClient) sessionsInTurn(s step) (answer, error) {
	var a answer
	for range s.Count {
		db, err := sql.Open("oracle", c.url(s, ""))
		if err != nil {
			return a, err
		}
		var n int64
		err = errors.Join(db.QueryRow(s.SQL).Scan(&n), db.Close())
		if err != nil {
			return a, err
		}
		a.Affected += n
	}
	return a, nil
}

func (c *goOraClient) interleave(s step) (answer, error) {
	var sets []*sql.Rows
	for _, session := range []int{0, 1} {
		s.Session = session
		rows, err := c.rows(context.Background(), s)
		if err != nil {
			return answer{}, err
		}
		defer func() { _ = rows.Close() }()
		sets = append(sets, rows)
	}
	var a answer
	for sets[0].Next() && sets[1].Next() {
		var both []*string
		for _, rows := range sets {
			row, err := scanned(rows)
			if err != nil {
				return a, err
			}
			both = append(both, row...)
		}
		a.Rows = append(a.Rows, both)
	}
	return a, errors.Join(sets[0].Err(), sets[1].Err())
}
