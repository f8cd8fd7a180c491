package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/loadctl/loadctl/pipeline"
)

// The ladder of harm: what harms nobody is done without a question; what ends work asks y or N; what decides about a
// target or deletes files wants a word typed, so that it is not answered by habit. Nothing ever requires a terminal.

// consent is the answer that was given beforehand.
type consent struct{ yes, noInput bool }

func (c *consent) flags(fs *pflag.FlagSet) {
	fs.BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
	fs.BoolVar(&c.noInput, "no-input", false, "never ask: without --yes it is refused")
}

// agree asks a question that y answers.
func (a *app) agree(ctx context.Context, c consent, question string) error {
	return a.ask(ctx, c, question, "[y/N]", func(answer string) bool {
		return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
	})
}

// typed asks for a word to be typed.
func (a *app) typed(ctx context.Context, c consent, question, word string) error {
	return a.ask(ctx, c, question, "type "+word+" to do it:", func(answer string) bool { return answer == word })
}

func (a *app) ask(ctx context.Context, c consent, question, how string, agreed func(answer string) bool) error {
	if c.yes {
		return nil
	}
	if c.noInput || !isTerminal(a.In) {
		return withHint(usage("%s Nobody is there to answer; nothing was changed", question), "--yes answers it beforehand")
	}
	fmt.Fprintf(a.Err, "loadctl: %s %s ", question, how)
	answer := make(chan string, 1)
	go func() { // a read from a terminal cannot be broken off: after a signal the process ends with it
		line, _ := bufio.NewReader(a.In).ReadString('\n') // the end of input is an empty answer
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
		return &failure{err: pipeline.ErrInterrupted, text: "interrupted; nothing was changed", what: "a signal ended the question"}
	case text := <-answer:
		if !agreed(text) {
			return usage("not confirmed; nothing was changed")
		}
		return nil
	}
}

// isTerminal says whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
