// Package loadctl is the map of the project; it holds no code. In the order in which data flows:
//
// config reads the daemon file and the job files: strict, all faults at once. A leaf.
//
// ledger decides: every state and transition of a run as data, one method a decision, on PostgreSQL, which itself
// refuses what the table does not list. It has no word for Oracle, HDFS or Hive.
//
// extract is the port to a source: tables, snapshots, slices, columnar batches, metrics and digests. extract/oracle
// implements it.
//
// stage is the port to a file store: chunks, the layout of a run's files, sealing. stage/hdfs and stage/local implement
// it; stage/parquet is the file format and knows no store.
//
// publish is the port to a warehouse: staging table, metrics, evidence, the statement that is sent once. publish/hive
// (with hs2, its client) and publish/files implement it.
//
// pipeline moves a run from CREATED to SUCCESS through the three ports and the ledger, and knows no adapter. It also
// says what an error means, to the run, to scripts and to people.
//
// cmd/loadctl and cmd/loadd are the programs; cmd/internal/wire puts adapters and pipeline together, and is the only
// place that names Oracle, HDFS and Hive in one breath.
//
// integration holds what is real in tests: orasim (a stand-in that speaks Oracle's wire protocol), rig (starts
// PostgreSQL, HDFS and Hive), scenario (the main job's world), demo, and the end-to-end tests.
//
// Who may import whom is a test: imports_test.go.
package loadctl
