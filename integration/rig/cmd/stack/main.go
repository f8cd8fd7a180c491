package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
)

func main() {
	t := time.Now()
	s, err := rig.Start(context.Background(), rig.Options{Log: slog.Default()})
	fmt.Println(err, time.Since(t))
	if err != nil {
		os.Exit(1)
	}
	for _, e := range s.Env() {
		fmt.Println(e)
	}
}
