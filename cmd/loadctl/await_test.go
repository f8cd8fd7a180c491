package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// awaitText returns when a file that another process writes holds a text.
func awaitText(file, text string) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		content, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(content), text) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%q was not printed in time; what was:\n%s", text, content)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
