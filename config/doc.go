// Package config reads what an operator writes: the daemon file (connections, ledger, store, warehouse, limits)
// and one file a job. It is strict and tells everything at once: every unknown key, wrong word, bad number,
// missing setting and conflict between files is a Fault with file, line and a suggestion, and all of them come
// back together as Faults.
//
// Load reads a daemon file with its job files; Config.Resolve turns a job and a business date into a Resolved:
// plain data that a run carries with it, so that a file edited in mid-run changes nothing.
//
// One place holds each fact: a setting's default and range are tags of its struct field (decode.go reads them,
// the JSON schema and the commented example are checked against them), the words of an enumeration are its
// type's Words method, the meaning of a setting is the field's comment, which the schema repeats.
//
// Passwords are references (Secret), read from the environment or a file only when Reveal is called. Nothing
// else in this program reads the environment.
//
// A job file cannot carry statements. What looks like SQL in it (where, hint, session_init) goes through a
// lexer that lets through an expression, a hint, an ALTER SESSION, and nothing more.
package config
