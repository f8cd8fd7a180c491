// Command loadctl loads Oracle tables into Hive so that what lands is exactly what Oracle held at one instant,
// once, and provably. Every verb is a file of this folder; what they do is in the packages they call.
package main

//go:generate go run ../internal/errordoc ../../docs/errors.md

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // dates begin in a zone, also in a container without a zone database

	"github.com/loadctl/loadctl/cmd/internal/stop"
)

func main() {
	polite, hard, release := stop.OnSignal()
	tell := make(chan os.Signal, 1)
	signal.Notify(tell, syscall.SIGUSR1)
	code := Main(polite, os.Args[1:], Process{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Hard: hard, Tell: tell,
	})
	release()
	os.Exit(code)
}

// Process is what a command line runs in.
type Process struct {
	In       io.Reader           // answers, where it is a terminal
	Out, Err io.Writer           // results; progress, notes and errors
	Getenv   func(string) string // asked for LOADCTL_CONFIG, LOADCTL_OUTPUT, NO_COLOR, TERM, COLUMNS and nothing else
	Hard     context.Context     // ends when work in hand must be dropped at once
	Tell     <-chan os.Signal    // receives when a line of progress is wanted now
}

// Main runs one command line and returns its exit code. When ctx ends, the command stops politely.
func Main(ctx context.Context, args []string, p Process) int {
	a := newApp(p)
	root := a.rootCommand()
	root.SetArgs(args)
	return a.exit(root.ExecuteContext(ctx))
}
