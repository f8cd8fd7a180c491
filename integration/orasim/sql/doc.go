// Package sql is the engine of orasim: it parses Oracle's SQL by recursive descent, compiles it against the
// catalog into closures over encoded values, and runs it on the versioned rows of package store.
//
// A statement goes lexer -> parser (parse_*.go, ast.go) -> compiler (compile_*.go: names, types, privileges)
// -> executor (exec_*.go). Values stay in Oracle's internal encoding throughout: NUMBER, DATE, TIMESTAMP and
// RAW compare byte by byte, and a plain projection copies nothing. The dictionary and the V$ views (dict_*.go)
// are virtual tables under the same executor.
//
// Character data is AL32UTF8, national data AL16UTF16 (big-endian), both as they stand on the wire; LOBs are
// kept inline as their text or bytes, of which an empty one is not NULL; a ROWID is the 12 bytes of ora.RowID.
//
// What the engine does not know is an ORA error with a position, never a guess: ORA-03001 for what Oracle
// knows and this does not. Where it is known to answer otherwise than a real server is in docs/orasim.md.
package sql
