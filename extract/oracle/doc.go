// Package oracle reads Oracle tables as of an SCN. It implements extract.Source over two clients: the go-ora driver, for
// the dictionary, the counts and the snapshot, and our own thin one (package ttc), for rows. What the thin one does not
// speak or decode is read by the driver.
//
// Everything that is known of Oracle is here, a file a concern: session.go opens, pins and marks sessions, pool.go
// keeps to their limit, driver.go and thin.go are the clients under them, readers.go says which of them reads,
// link.go is the driver's network connection with deadlines and cancellation, dictionary.go says what a table is and
// types.go what its columns become, query.go writes every SQL text, read.go and read_thin.go stream rows into batches,
// and errors.go turns ORA codes into the port's errors.
//
// The driver is used below database/sql: a query may need a connection with a fetch size of its own, must never
// be repeated behind our back, and its connection is thrown away after any error (the driver may mix the results of
// two statements otherwise). The driver's other traps are dealt with where they bite, each with a comment.
package oracle
