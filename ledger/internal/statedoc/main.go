// Command statedoc writes the document of the run's states from the ledger's tables. Its argument is the file.
package main

import (
	"fmt"
	"os"

	"github.com/loadctl/loadctl/ledger"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: statedoc FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(ledger.StateDoc()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "statedoc:", err)
		os.Exit(1)
	}
}
