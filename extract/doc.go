// Package extract says what it means to read a table: its columns and types, the snapshot that a run reads
// at, the slices that a table is cut into, the columnar batches that rows travel in, and the metrics that
// prove that what was read is what is there.
//
// It is the port between the pipeline and a source database. An adapter (extract/oracle) implements Source;
// the conformance suite in extracttest says what that means. The package imports nothing else of the project
// and knows no SQL dialect.
package extract
