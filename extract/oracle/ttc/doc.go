// Package ttc is a thin Oracle client that does one thing: it runs a query and decodes its rows straight into the
// vectors of an extract.Batch, without an allocation a row.
//
// The layers, a file each or two: packet.go frames TNS packets and keeps every deadline; input.go and output.go are
// the primitives of TTC, the protocol inside the packets; connect.go, negotiate.go and login.go open a session;
// execute.go sends statements, reply.go reads what comes back, rows.go streams a result, and decode.go, number.go and
// instant.go turn values into vectors.
//
// Two rules hold everywhere. No TTC message carries its own length, so a byte that makes no sense ends the session
// (ErrProtocol) and is never skipped. And a result is over only when the server says so with ORA-01403 and has counted
// as many rows as were decoded: whatever else looks like an end is extract.ErrShort.
//
// A session is used by one goroutine. Its context is the only thing that reaches it from outside: when it ends, the
// server is asked to break off, and the session is back in step, or broken, soon after.
//
// Not spoken: native network encryption, verifiers older than 11g, Kerberos, LOBs, objects, and databases whose
// character set is not Unicode. Each is an UnsupportedError, so that another client can take over.
package ttc
