package orasim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Run runs a script as a user, without a network or a password, and commits at its end. Statements end with
// a semicolon, or with a line that has only a slash; PL/SQL ends only with the latter. The first error ends
// the script; it names the line and not the text, in which a password may stand.
func (s *Server) Run(user, script string) error {
	session, err := s.db.Connect(ora.Login{User: user, Service: s.service, Program: "orasim"})
	if err != nil {
		return err
	}
	defer session.Close()
	statements, err := splitScript(script)
	if err != nil {
		return err
	}
	for _, st := range statements {
		if err := execute(session, st.text); err != nil {
			return fmt.Errorf("line %d: %w", st.line, err)
		}
	}
	return session.Commit()
}

func execute(session ora.Session, text string) error {
	st, err := session.Prepare(text)
	if err != nil {
		return err
	}
	rows, _, err := st.Execute(context.Background(), nil)
	if err != nil || rows == nil {
		return err
	}
	defer rows.Close()
	for err == nil {
		_, err = rows.Next(context.Background())
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// scriptStatement is one statement of a script and the line on which it begins.
type scriptStatement struct {
	text string
	line int
}

// splitter cuts a script at its terminators. What is inside a comment or quotes does not end a statement.
type splitter struct {
	src      string
	at, line int // where it reads
	from     int // where the statement being read begins; -1: between statements
	fromLine int
	out      []scriptStatement
}

func splitScript(script string) ([]scriptStatement, error) {
	s := &splitter{src: script, line: 1, from: -1}
	for s.at < len(s.src) {
		n, err := s.piece()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.line, err)
		}
		piece := s.src[s.at : s.at+n]
		switch {
		case s.terminates(piece):
			s.end()
		case s.from < 0 && !blank(piece):
			s.from, s.fromLine = s.at, s.line
		}
		s.at += n
		s.line += strings.Count(piece, "\n")
	}
	s.end()
	return s.out, nil
}

// blank says whether a piece may stand between statements.
func blank(piece string) bool {
	return strings.TrimSpace(piece) == "" || strings.HasPrefix(piece, "--") || strings.HasPrefix(piece, "/*")
}

// piece is the length of what stands here: a comment, a quoted text, or one byte.
func (s *splitter) piece() (int, error) {
	rest := s.src[s.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return n, nil
		}
		return len(rest), nil
	case strings.HasPrefix(rest, "/*"):
		return through(rest, 2, "*/")
	case rest[0] == '\'' || rest[0] == '"':
		return through(rest, 1, rest[:1])
	case len(rest) > 3 && strings.EqualFold(rest[:2], "q'"):
		return through(rest, 3, closer(rest[2])+"'")
	}
	return 1, nil
}

// through is the length up to and including the end of something whose opening has n bytes.
func through(rest string, n int, end string) (int, error) {
	i := strings.Index(rest[n:], end)
	if i < 0 {
		return 0, fmt.Errorf("what begins with %s has no %s at its end", rest[:n], end)
	}
	return n + i + len(end), nil
}

// closer is the character that ends a q'...' text.
func closer(open byte) string {
	if i := strings.IndexByte("[{(<", open); i >= 0 {
		return "]})>"[i : i+1]
	}
	return string(open)
}

var procedural = regexp.MustCompile(`(?i)^(BEGIN|DECLARE|CREATE\s+(OR\s+REPLACE\s+)?(PROCEDURE|FUNCTION|TRIGGER|PACKAGE|TYPE))\b`)

// terminates says whether a piece ends the statement before it.
func (s *splitter) terminates(piece string) bool {
	switch piece {
	case ";":
		return s.from < 0 || !procedural.MatchString(s.src[s.from:s.at])
	case "/":
		before := s.src[strings.LastIndexByte(s.src[:s.at], '\n')+1 : s.at]
		after, _, _ := strings.Cut(s.src[s.at+1:], "\n")
		return strings.TrimSpace(before) == "" && strings.TrimSpace(after) == ""
	}
	return false
}

// end finishes the statement being read, if there is one.
func (s *splitter) end() {
	if s.from >= 0 {
		s.out = append(s.out, scriptStatement{text: strings.TrimSpace(s.src[s.from:s.at]), line: s.fromLine})
	}
	s.from = -1
}
