// Package wire is the network half of the Oracle stand-in: the server side of Oracle Net (TNS) and of the
// Two-Task Common protocol (TTC) above it. It knows no SQL; everything it serves comes through ora.Backend.
//
// A connection is two goroutines. The reader takes packets off the socket and notices, even while a statement
// runs, a break marker or the loss of the client; the session goroutine decodes requests, calls the backend
// and streams replies. In the order that bytes travel:
//
//	packet.go, conn.go     packets, the reader goroutine, the break/reset exchange, outgoing packets
//	decode.go, encode.go   TTC's primitive encodings
//	connect.go, negotiate.go, verifier.go, login.go    from CONNECT to a logged-in session
//	request.go, piggyback.go    requests as values; no state, so they can be fuzzed
//	session.go             the loop, the functions other than execute and fetch
//	cursor.go, execute.go, rows.go, reply.go    cursors, execute and fetch, row streaming, describe and end-of-call records
//	lob.go, output.go      LOBs and their locators, values that a block gives back
//	packed.go              rows that the backend has encoded already
//	fault.go, comment.go, strike.go    what tests may break, as data, in statements, and when it happens
//
// Layouts depend on what the client said about itself (caps.go); nothing about a client is guessed. TTC
// messages carry no length, so a field that is misread cannot be skipped: an unknown message ends the session
// with a hex dump in the log rather than a guess.
//
// What the server deliberately is: TNS 318 without fast authentication, TTC field version 12 (that of 19c),
// AL32UTF8 with AL16UTF16 as the national character set, database time zone UTC. Errors and cancels always
// use the break and reset markers, as 19c does.
package wire
