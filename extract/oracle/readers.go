package oracle

import (
	"errors"
	"sync"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle/ttc"
)

// readers says which reader reads what. What the thin one has refused once is not tried with it again.
type readers struct {
	cfg Config

	mu     sync.Mutex        // guards what follows
	whole  string            // why the thin reader does nothing at all here
	column map[string]string // why it does not read a column of this declaration
}

func newReaders(cfg Config) *readers { return &readers{cfg: cfg, column: map[string]string{}} }

// thin says whether the thin reader is to read these columns, and if not, why.
func (r *readers) thin(cols []extract.Column) (yes bool, why string) {
	switch r.cfg.Reader {
	case ReaderThin:
		return true, ""
	case ReaderDriver:
		return false, "the configuration says so"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.whole != "" {
		return false, r.whole
	}
	for _, c := range cols {
		if why := r.column[c.Declared]; why != "" {
			return false, why
		}
	}
	return true, ""
}

// fallBack says whether err is the thin reader's refusal and another may be tried, and remembers it.
func (r *readers) fallBack(err error) bool {
	var refused *ttc.UnsupportedError
	if r.cfg.Reader != ReaderAuto || !errors.As(err, &refused) {
		return false
	}
	r.mu.Lock()
	if refused.Declared != "" {
		r.column[refused.Declared] = refused.Error()
	} else {
		r.whole = refused.Error()
	}
	r.mu.Unlock()
	r.cfg.Log.Warn("rows are read by the driver", "source", r.cfg.String(), "why", refused.Error())
	return true
}

// used is which reader reads a slice, and why not the thin one.
type used struct{ name, why string }

// ReadBy says which reader reads the slice, thin or driver, and why it is not the thin one.
func (u used) ReadBy() (name, why string) { return u.name, u.why }
