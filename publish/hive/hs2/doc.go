// Package hs2 is a thin client of HiveServer2 over the generated Thrift package of github.com/beltran/gohive.
//
// It is there because a publish must be provable: handles are kept and can be written down, so that another
// process can close the session on that very server; every statement runs asynchronously and is polled; every
// network call has a deadline; an error says whether the server refused a statement or failed to run it; and a
// call that is cancelled is broken off at once, and its session closed, through a new connection if need be.
//
// One Session is one connection and one server session. Its methods may be called from several goroutines; they
// wait for one another. After a call that did not end in an answer the connection is out of step and is never
// used again: every later call returns ErrUnreachable.
package hs2
