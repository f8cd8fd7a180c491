package stage

import "github.com/loadctl/loadctl/extract"

// Column is a column of the staged files and of every table downstream: a source column under the one name
// that files, staging table and target have for it.
type Column struct {
	Name   string       `json:"name"`   // in files and Hive: lower case
	Source string       `json:"source"` // exact source name
	Type   extract.Type `json:"type"`
}

// Chunk is one closed file of an attempt, as reported to the ledger.
type Chunk struct {
	Partition int    `json:"partition"`
	Index     int    `json:"index"` // 0.. within the attempt, without gaps
	Path      string `json:"path"`  // relative to the store's root, in the attempt's directory
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
	Digest    string `json:"digest"` // of the content, independent of the order of rows (extract.Digest)
}

// Manifest lists exactly the chunks that make up a run, as the ledger has them.
type Manifest struct {
	Ledger string  `json:"ledger"` // id of the ledger
	Run    string  `json:"run"`
	Job    string  `json:"job"`
	Chunks []Chunk `json:"chunks"`
}
