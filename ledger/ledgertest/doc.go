// Package ledgertest runs private PostgreSQL clusters for tests, the rig and the demo.
//
// [StartCluster] makes and starts one cluster in a directory of its own: loopback only, a free port, password
// authentication. As root it runs the server as an unprivileged user, because PostgreSQL refuses to run as root.
// A cluster dies with the process that started it, however that process ends, unless it was asked to outlive it:
// the server runs under a small shell whose standard input is a pipe from us, and end of file there means stop.
//
// [New] gives a test a migrated ledger in a database of its own. All tests of one test binary share one cluster,
// started by the first that asks. There is no fake ledger: what is tested is what PostgreSQL does.
package ledgertest
