package hs2

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"
)

// fake is a HiveServer2 that answers what a test tells it to.
type fake struct {
	hiveserver.TCLIService // nil: a call that a test does not expect panics in its goroutine

	password string
	open     func() *hiveserver.TStatus
	execute  func(*hiveserver.TExecuteStatementReq) (*hiveserver.TStatus, bool)
	status   func() *hiveserver.TGetOperationStatusResp
	fetch    func() *hiveserver.TRowSet

	addr string
	mu   sync.Mutex
	got  []string // names of the calls, in order
}

var success = &hiveserver.TStatus{StatusCode: hiveserver.TStatusCode_SUCCESS_STATUS}

func failure(code int32, state, text string) *hiveserver.TStatus {
	return &hiveserver.TStatus{StatusCode: hiveserver.TStatusCode_ERROR_STATUS, ErrorCode: &code, SqlState: &state, ErrorMessage: &text}
}

func id(b byte) *hiveserver.THandleIdentifier {
	return &hiveserver.THandleIdentifier{GUID: bytes.Repeat([]byte{b}, 16), Secret: bytes.Repeat([]byte{b + 1}, 16)}
}

// start serves until the test ends.
func (f *fake) start(t *testing.T, framed bool) Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			wg.Go(func() { f.serve(ctx, c, framed) })
		}
	})
	t.Cleanup(func() { cancel(); l.Close(); wg.Wait() })
	f.addr = l.Addr().String()
	return Config{Address: f.addr, User: "loader", Password: "secret", ConnectTimeout: 5 * time.Second, CallTimeout: 5 * time.Second}
}

func (f *fake) serve(ctx context.Context, c net.Conn, framed bool) {
	defer c.Close()
	tr := newTransport(c, framed)
	if framed && !f.login(tr) {
		return
	}
	p := thrift.NewTBinaryProtocolConf(tr, &thrift.TConfiguration{})
	for {
		if ok, err := hiveserver.NewTCLIServiceProcessor(f).Process(ctx, p, p); !ok || err != nil {
			return
		}
	}
}

func (f *fake) login(tr *transport) bool {
	if s, m, err := tr.receive(); err != nil || s != saslStart || m != "PLAIN" {
		return false
	}
	_, token, err := tr.receive()
	if err != nil {
		return false
	}
	if f.password != "" && token != "\x00loader\x00"+f.password {
		tr.send(saslError, []byte("Error validating the login"))
		return false
	}
	return tr.send(saslComplete, nil) == nil
}

func (f *fake) called(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, name)
}

func (f *fake) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.got...)
}

func (f *fake) OpenSession(context.Context, *hiveserver.TOpenSessionReq) (*hiveserver.TOpenSessionResp, error) {
	f.called("OpenSession")
	st := success
	if f.open != nil {
		st = f.open()
	}
	return &hiveserver.TOpenSessionResp{Status: st, ServerProtocolVersion: 9, SessionHandle: &hiveserver.TSessionHandle{SessionId: id(1)}}, nil
}

func (f *fake) CloseSession(context.Context, *hiveserver.TCloseSessionReq) (*hiveserver.TCloseSessionResp, error) {
	f.called("CloseSession")
	return &hiveserver.TCloseSessionResp{Status: success}, nil
}

func (f *fake) ExecuteStatement(_ context.Context, r *hiveserver.TExecuteStatementReq) (*hiveserver.TExecuteStatementResp, error) {
	f.called("ExecuteStatement")
	st, ok := success, true
	if f.execute != nil {
		st, ok = f.execute(r)
	}
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	h := &hiveserver.TOperationHandle{OperationId: id(7), HasResultSet: true}
	return &hiveserver.TExecuteStatementResp{Status: st, OperationHandle: h}, nil
}

func (f *fake) GetOperationStatus(context.Context, *hiveserver.TGetOperationStatusReq) (*hiveserver.TGetOperationStatusResp, error) {
	f.called("GetOperationStatus")
	return f.status(), nil
}

func (f *fake) CancelOperation(context.Context, *hiveserver.TCancelOperationReq) (*hiveserver.TCancelOperationResp, error) {
	f.called("CancelOperation")
	return &hiveserver.TCancelOperationResp{Status: success}, nil
}

func (f *fake) FetchResults(context.Context, *hiveserver.TFetchResultsReq) (*hiveserver.TFetchResultsResp, error) {
	f.called("FetchResults")
	return &hiveserver.TFetchResultsResp{Status: success, Results: f.fetch()}, nil
}

func (f *fake) GetInfo(context.Context, *hiveserver.TGetInfoReq) (*hiveserver.TGetInfoResp, error) {
	f.called("GetInfo")
	v := "4.0.1"
	return &hiveserver.TGetInfoResp{Status: success, InfoValue: &hiveserver.TGetInfoValue{StringValue: &v}}, nil
}

// state makes the answer to a poll.
func state(s hiveserver.TOperationState) *hiveserver.TGetOperationStatusResp {
	return &hiveserver.TGetOperationStatusResp{Status: success, OperationState: &s}
}
