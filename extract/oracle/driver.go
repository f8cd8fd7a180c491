package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	go_ora "github.com/sijms/go-ora/v2"

	"github.com/loadctl/loadctl/extract"
)

// driverClient is a session of go-ora's: for the dictionary and for control queries always, for rows where ours does
// not do.
type driverClient struct {
	cfg      Config
	conn     *go_ora.Connection
	link     *link
	prefetch int  // rows a fetch
	spoilt   bool // after any error: never used again
}

func connectDriver(ctx context.Context, cfg Config, password string, prefetch int) (*driverClient, error) {
	d := &driverClient{cfg: cfg, prefetch: prefetch}
	if err := d.connect(ctx, password); err != nil {
		return nil, withoutSecret(err, password)
	}
	return d, nil
}

func (d *driverClient) connect(ctx context.Context, password string) (err error) {
	// One connector a session: charset tables and the fetch size belong to the connector.
	dial := &dialer{ctx: ctx, cfg: d.cfg}
	defer func() {
		dial.release()
		if r := recover(); r != nil {
			err = fmt.Errorf("the driver panicked: %v", r)
		}
		if err != nil && dial.link != nil {
			dial.link.Close()
		}
	}()
	connector, ok := go_ora.NewConnector(d.cfg.url(password, d.prefetch)).(*go_ora.OracleConnector)
	if !ok {
		return errors.New("the driver has another connector than it had")
	}
	connector.Dialer(dial)
	conn, err := connector.Connect(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if d.conn, ok = conn.(*go_ora.Connection); !ok {
		return errors.New("the driver has another connection than it had")
	}
	d.link = dial.link
	return nil
}

// url is the driver's own form of a configuration. It holds the password and must not reach an error.
func (c Config) url(password string, prefetch int) string {
	return go_ora.BuildUrl(c.Host, c.Port, c.Service, c.User, password, map[string]string{
		"PREFETCH_ROWS": strconv.Itoa(prefetch),
		// DATE and TIMESTAMP have no zone. Anything but UTC makes the driver shift wall clocks that fall into a gap.
		"SERVER LOCATION":    "UTC",
		"CONNECTION TIMEOUT": strconv.Itoa(int(c.ConnectTimeout/time.Second) + 1),
		"PROGRAM":            module,
	})
}

// withoutSecret hides the password in the text of an error of the driver, whose URL parser quotes what it parses.
func withoutSecret(err error, password string) error {
	if password == "" || !strings.Contains(err.Error(), password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), password, "***"))
}

// call runs one use of the driver. Patience is how long the server may be silent, 0 for ever. When ctx ends, what runs is
// broken off. A panic becomes an error; after any error the session is broken.
func (d *driverClient) call(ctx context.Context, patience time.Duration, use func() error) (err error) {
	if d.spoilt {
		return errors.New("use of a broken session")
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d.link.setPatience(patience)
	stop := context.AfterFunc(ctx, d.link.interrupt)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the driver panicked: %v", r)
		}
		interrupted := !stop()
		d.spoilt = d.spoilt || interrupted || (err != nil && err != io.EOF)
	}()
	return use()
}

// exec runs a statement that returns no rows.
func (d *driverClient) exec(ctx context.Context, text string, args ...string) error {
	return d.call(ctx, d.cfg.ConnectTimeout, func() error {
		_, err := d.conn.ExecContext(context.WithoutCancel(ctx), text, named(args))
		return err
	})
}

// open runs a query and returns its rows, of which none has been fetched by the caller yet.
func (d *driverClient) open(ctx context.Context, patience time.Duration, text string, args ...string) (driver.Rows, error) {
	var rows driver.Rows
	err := d.call(ctx, patience, func() (err error) {
		rows, err = d.conn.QueryContext(context.WithoutCancel(ctx), text, named(args))
		return err
	})
	return rows, err
}

func named(args []string) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// all runs a query and returns every row as text, NULL as "": for the dictionary and for counts, whose values are
// never empty. Numbers come as the driver's exact text.
func (d *driverClient) all(ctx context.Context, text string, args ...string) ([][]string, error) {
	rows, err := d.open(ctx, 0, text, args...)
	if err != nil {
		return nil, err
	}
	var out [][]string
	ended := false
	err = d.call(ctx, 0, func() error {
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(row); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			values, err := texts(row)
			if err != nil {
				return err
			}
			out = append(out, values)
		}
		ended = d.ended() // before the cursor is closed, which is another reply
		return rows.Close()
	})
	if err == nil && !ended {
		return nil, fmt.Errorf("%w: the answer to a query of the planner has no end", extract.ErrShort)
	}
	return out, err
}

func texts(row []driver.Value) ([]string, error) {
	out := make([]string, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
		case string:
			out[i] = strings.Clone(v)
		default:
			return nil, fmt.Errorf("%w: the driver returned a %T where a text was asked for", extract.ErrQuery, v)
		}
	}
	return out, nil
}

// endOfRows is what every server says, in any language, when it has no more rows. The driver does not tell it
// from a reply that simply has none.
const endOfRows = "ORA-01403"

// ended says whether the last reply told that there are no more rows.
func (d *driverClient) ended() bool { return d.link.endsWith(endOfRows) }

func (d *driverClient) broken() bool { return d.spoilt }

// close ends the session, politely unless it is broken.
func (d *driverClient) close() {
	if !d.spoilt {
		// The answer to a log-off changes nothing for us.
		_ = d.call(context.Background(), 2*time.Second, func() error { return d.conn.Close() })
	}
	d.link.Close()
}
