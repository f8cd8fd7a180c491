// Package scenario is the world of the main job, for the demo and for end-to-end tests: a stand-in for Oracle with the
// table APP.INSP_DTL, sessions that change that table and commit while it is read, a ledger on a private PostgreSQL, a
// store and a warehouse (two directories, or real HDFS and Hive), and the configuration files that loadctl needs for
// all that. It also says, from the stand-in's journal and without the stand-in's store, what the table held at an SCN.
package scenario
