package hs2

import (
	"context"
	"fmt"
	"time"

	"github.com/beltran/gohive/hiveserver"
)

// Operation is a statement that the server has accepted.
type Operation struct {
	s *Session
	h OperationHandle
}

// Status is what the server says of an operation.
type Status struct {
	Done     bool // FINISHED
	Fraction float64
	Text     string // state of the operation
	Modified int64  // rows written, -1 when the server does not say
	Err      *Error // the operation ended otherwise than FINISHED
}

// Execute sends a statement with settings for it alone. It returns when the server has compiled it; the
// statement then runs, and Wait tells its end. An *Error of PhaseExecute is the server's refusal. After any
// other error the statement may be running.
func (s *Session) Execute(ctx context.Context, statement string, overlay map[string]string) (*Operation, error) {
	req := hiveserver.NewTExecuteStatementReq()
	req.SessionHandle, req.Statement, req.ConfOverlay, req.RunAsync = s.handle.thrift(), statement, overlay, true
	var resp *hiveserver.TExecuteStatementResp
	err := s.conn.call(ctx, s.conn.cfg.CompileTimeout, "execute statement", func(ctx context.Context) (err error) {
		resp, err = s.conn.client.ExecuteStatement(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := sessionError(check(PhaseExecute, resp.GetStatus())); err != nil {
		return nil, err
	}
	if resp.GetOperationHandle().GetOperationId() == nil {
		return nil, fmt.Errorf("execute statement: the answer has no handle")
	}
	return &Operation{s: s, h: OperationHandle{h: *resp.OperationHandle}}, nil
}

// Operation takes up a statement by its handle, which may come from another session or process.
func (s *Session) Operation(h OperationHandle) *Operation { return &Operation{s: s, h: h} }

// Handle names the operation.
func (o *Operation) Handle() OperationHandle { return o.h }

// QueryID asks for the server's id of the query, by which its logs and KILL QUERY know it.
func (o *Operation) QueryID(ctx context.Context) (string, error) {
	var resp *hiveserver.TGetQueryIdResp
	err := o.call(ctx, "get query id", func(ctx context.Context) (err error) {
		resp, err = o.s.conn.client.GetQueryId(ctx, &hiveserver.TGetQueryIdReq{OperationHandle: o.thrift()})
		return err
	})
	if err != nil {
		return "", err
	}
	return resp.GetQueryId(), nil
}

// Poll asks once. The server may hold the answer back for some seconds while nothing changes.
func (o *Operation) Poll(ctx context.Context) (Status, error) {
	progress := true
	req := &hiveserver.TGetOperationStatusReq{OperationHandle: o.thrift(), GetProgressUpdate: &progress}
	var resp *hiveserver.TGetOperationStatusResp
	err := o.call(ctx, "poll operation", func(ctx context.Context) (err error) {
		resp, err = o.s.conn.client.GetOperationStatus(ctx, req)
		return err
	})
	if err != nil {
		return Status{}, err
	}
	if err := check(PhaseRun, resp.GetStatus()); err != nil {
		return Status{}, err
	}
	return status(resp), nil
}

// failed names the states in which an operation has ended without success.
var failed = map[hiveserver.TOperationState]string{
	hiveserver.TOperationState_CANCELED_STATE: "CANCELED",
	hiveserver.TOperationState_CLOSED_STATE:   "CLOSED",
	hiveserver.TOperationState_ERROR_STATE:    "ERROR",
	hiveserver.TOperationState_UKNOWN_STATE:   "UNKNOWN",
	hiveserver.TOperationState_TIMEDOUT_STATE: "TIMEDOUT",
}

func status(resp *hiveserver.TGetOperationStatusResp) Status {
	st := Status{Fraction: -1, Modified: -1, Text: resp.GetOperationState().String()}
	if resp.IsSetNumModifiedRows() {
		st.Modified = resp.GetNumModifiedRows()
	}
	if p := resp.GetProgressUpdateResponse(); p != nil && len(p.GetRows()) > 0 {
		st.Fraction = min(max(p.GetProgressedPercentage(), 0), 1)
	}
	if name, ok := failed[resp.GetOperationState()]; ok {
		st.Err = &Error{Phase: PhaseRun, State: name, Code: int(resp.GetErrorCode()), SQLState: resp.GetSqlState(),
			Message: cutMessage(resp.GetErrorMessage())}
	}
	st.Done = resp.GetOperationState() == hiveserver.TOperationState_FINISHED_STATE
	return st
}

// Delays between two polls. HiveServer2 itself holds a poll back, longer as the query grows older; these
// are for one that does not.
const (
	firstDelay   = 5 * time.Millisecond
	longestDelay = 2 * time.Second
)

// Wait polls until the end. report may be nil. An operation that ended otherwise than FINISHED is an *Error of
// PhaseRun. When ctx ends, the operation is cancelled before Wait returns, if the server can still be told.
func (o *Operation) Wait(ctx context.Context, report func(Status)) (Status, error) {
	for delay := firstDelay; ; delay = min(delay*2, longestDelay) {
		st, err := o.Poll(ctx)
		if err == nil && report != nil {
			report(st)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			o.giveUp(ctx)
			return st, err
		case err != nil:
			return st, err
		case st.Err != nil:
			return st, st.Err
		case st.Done:
			return st, nil
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			o.giveUp(ctx)
			return st, fmt.Errorf("wait for operation: %w", context.Cause(ctx))
		}
	}
}

// giveUp ends the operation: on its own connection where that is still good, else with its session.
func (o *Operation) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if o.s.Usable() && o.Cancel(ctx) == nil {
		return
	}
	o.s.Close(ctx)
}

// Cancel asks the server to end the operation. It returns when the server has done so or refused.
func (o *Operation) Cancel(ctx context.Context) error {
	var resp *hiveserver.TCancelOperationResp
	err := o.call(ctx, "cancel operation", func(ctx context.Context) (err error) {
		resp, err = o.s.conn.client.CancelOperation(ctx, &hiveserver.TCancelOperationReq{OperationHandle: o.thrift()})
		return err
	})
	if err != nil {
		return err
	}
	return check(PhaseRun, resp.GetStatus())
}

// Close lets the server forget the operation and its results.
func (o *Operation) Close(ctx context.Context) error {
	var resp *hiveserver.TCloseOperationResp
	err := o.call(ctx, "close operation", func(ctx context.Context) (err error) {
		resp, err = o.s.conn.client.CloseOperation(ctx, &hiveserver.TCloseOperationReq{OperationHandle: o.thrift()})
		return err
	})
	if err != nil {
		return err
	}
	return check(PhaseRun, resp.GetStatus())
}

func (o *Operation) thrift() *hiveserver.TOperationHandle { return &o.h.h }

func (o *Operation) call(ctx context.Context, name string, f func(context.Context) error) error {
	return o.s.conn.call(ctx, o.s.conn.cfg.CallTimeout, name, f)
}
