package oracle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// certificate is a new one for 127.0.0.1, and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, trusted
}

// terminate accepts TLS and passes the plain bytes on to address, as a listener's TCPS endpoint does.
func terminate(t *testing.T, cert tls.Certificate, address string) (port int) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { pass(client, address) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().(*net.TCPAddr).Port
}

func pass(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	_, _ = io.Copy(server, client)
	server.Close()
	<-done
}

func TestTLS(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(1000))
	_, server := serve(t, s, nil)
	cert, trusted := certificate(t)
	port := terminate(t, cert, server.Addr().String())
	connect := func(roots *x509.CertPool) *Source {
		source, err := New(Config{Host: "127.0.0.1", Port: port, Service: "SALES", User: "APP", TLS: &tls.Config{RootCAs: roots},
			Password: func() (string, error) { return testPassword, nil }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { source.Close() })
		return source
	}
	got, err := readAll(t.Context(), connect(trusted), numbers(), 0)
	if err != nil || len(got) != 1000 || s.seen("COUNT(*)") != 0 {
		t.Fatalf("read %d rows, %v; want 1000 and a clear end", len(got), err)
	}
	if _, err := connect(x509.NewCertPool()).Identity(t.Context()); !errors.Is(err, extract.ErrUnreachable) {
		t.Fatalf("a certificate that nobody vouches for: %v, want ErrUnreachable", err)
	}
}
