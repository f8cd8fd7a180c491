package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"
)

// screen is a stream with a block of lines at its end that is drawn again in place. Everything else that is written
// goes above the block. Without a block it only passes on.
type screen struct {
	mu    sync.Mutex
	w     io.Writer
	lines []string // of the block as it is drawn
}

// Write puts text above the block.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		return s.w.Write(p)
	}
	lines := s.lines
	var b bytes.Buffer
	s.erase(&b)
	b.Write(p)
	s.put(&b, lines)
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// draw replaces the block, in one write. Lines must fit the terminal's width. No lines: the block is gone.
func (s *screen) draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	s.erase(&b)
	s.put(&b, lines)
	_, _ = s.w.Write(b.Bytes()) // a terminal that is gone has nobody before it
}

func (s *screen) erase(b *bytes.Buffer) {
	if n := len(s.lines); n > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r\x1b[J", n)
	}
	s.lines = nil
}

func (s *screen) put(b *bytes.Buffer, lines []string) {
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	s.lines = lines
}

// fit cuts a line to a width, in columns of the terminal.
func fit(line string, width int) string { return runewidth.Truncate(line, width, "…") }

// terminalWidth asks a terminal for its columns; false when w is none.
func terminalWidth(w io.Writer) (int, bool) {
	if s, ok := w.(*screen); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	if size.Col == 0 {
		return usualWidth, true
	}
	return int(size.Col), true
}

// usualWidth is that of a terminal that does not tell.
const usualWidth = 80
