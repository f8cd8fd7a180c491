// Package publish says how staged rows become the target's: a staging table over the sealed files, metrics on
// both, one statement that is sent once, and the evidence that tells what it did.
//
// It is the port between the pipeline and a warehouse. publish/hive and publish/files implement Warehouse; the
// conformance suite in publishtest says what that means.
package publish
