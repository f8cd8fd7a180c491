package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive"
	"github.com/beltran/gohive/hiveserver"
)

// probeHiveServer2 logs in, runs SELECT 1 and reads its row. It knows nothing of the product's own client, which tests
// may have broken.
func (s *Stack) probeHiveServer2(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", local(s.state.Ports.HiveServer2))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client, err := newHiveClient(ctx, conn, s.state.HivePassword)
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	user := "loadctl"
	opened, err := client.OpenSession(ctx, &hiveserver.TOpenSessionReq{
		ClientProtocol: hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V10, Username: &user,
	})
	if err := hiveError(opened, err); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	got, err := selectOne(ctx, client, opened.SessionHandle)
	closed, cerr := client.CloseSession(ctx, &hiveserver.TCloseSessionReq{SessionHandle: opened.SessionHandle})
	if err := errors.Join(err, hiveError(closed, cerr)); err != nil {
		return err
	}
	if len(got) != 1 || got[0] != 1 {
		return fmt.Errorf("select 1: got %v", got)
	}
	return nil
}

func newHiveClient(ctx context.Context, conn net.Conn, password string) (*hiveserver.TCLIServiceClient, error) {
	cfg := &thrift.TConfiguration{SocketTimeout: warmPatience}
	if deadline, ok := ctx.Deadline(); ok {
		cfg.SocketTimeout = time.Until(deadline)
	}
	login := map[string]string{"username": "loadctl", "password": password}
	t, err := gohive.NewTSaslTransport(thrift.NewTSocketFromConnConf(conn, cfg), "127.0.0.1", "PLAIN", login, 16<<20)
	if err != nil {
		return nil, err
	}
	if err := t.Open(); err != nil {
		return nil, err
	}
	return hiveserver.NewTCLIServiceClientFactory(t, thrift.NewTBinaryProtocolFactoryConf(cfg)), nil
}

func selectOne(ctx context.Context, client *hiveserver.TCLIServiceClient, session *hiveserver.TSessionHandle) ([]int32, error) {
	run, err := client.ExecuteStatement(ctx, &hiveserver.TExecuteStatementReq{SessionHandle: session, Statement: "SELECT 1"})
	if err := hiveError(run, err); err != nil {
		return nil, fmt.Errorf("execute select 1: %w", err)
	}
	rows, err := client.FetchResults(ctx, &hiveserver.TFetchResultsReq{
		OperationHandle: run.OperationHandle, Orientation: hiveserver.TFetchOrientation_FETCH_NEXT, MaxRows: 10,
	})
	if err := hiveError(rows, err); err != nil {
		return nil, fmt.Errorf("fetch select 1: %w", err)
	}
	if len(rows.GetResults().GetColumns()) != 1 {
		return nil, fmt.Errorf("fetch select 1: %d columns", len(rows.GetResults().GetColumns()))
	}
	return rows.Results.Columns[0].GetI32Val().GetValues(), nil
}

// hiveError is the error of a call, of the transport or in the answer's status.
func hiveError(answer interface {
	GetStatus() *hiveserver.TStatus
}, err error) error {
	if err != nil {
		return err
	}
	st := answer.GetStatus()
	switch st.GetStatusCode() {
	case hiveserver.TStatusCode_SUCCESS_STATUS, hiveserver.TStatusCode_SUCCESS_WITH_INFO_STATUS:
		return nil
	}
	return fmt.Errorf("%s %d: %s", st.GetSqlState(), st.GetErrorCode(), st.GetErrorMessage())
}
