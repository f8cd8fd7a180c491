// Package integration holds the end-to-end tests: the real programs, on a stand-in for Oracle that speaks Oracle's wire
// protocol, real PostgreSQL, and, beside the embedded store and warehouse, real HDFS and HiveServer2.
package integration
