// Package stage says where extracted rows wait between the source and the warehouse: chunks (files) in
// attempt directories on a store, sealed into the run's directory by exactly the list that the ledger has.
//
// It is the port between the pipeline and a file store. stage/hdfs and stage/local implement Store; the
// conformance suite in stagetest says what that means. stage/parquet is the file format and knows no store.
package stage
