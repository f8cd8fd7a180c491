package sql

import (
	"context"
	"fmt"
	"strings"
)

// Script runs statements separated by semicolons, as a SQL*Plus file has them: a PL/SQL block ends with END;
// and a / on a line of its own is skipped. An error names the line on which the statement begins.
func (s *Session) Script(ctx context.Context, text string) error {
	tokens, err := tokenise(maskSlashes(text))
	if err != nil {
		return fmt.Errorf("script, line %d: %w", lineOf(text, asOra(err).Pos), err)
	}
	for i := 0; tokens[i].kind != tokEnd; {
		if tokens[i].isSymbol(";") {
			i++
			continue
		}
		end := statementEnd(tokens, i)
		from, to := tokens[i].pos, tokens[end].pos
		if isBlock(tokens[i]) {
			to = tokens[end].end
		}
		if _, err := s.Run(ctx, text[from:to]); err != nil {
			return fmt.Errorf("script, line %d: %w", lineOf(text, from), err)
		}
		i = end
	}
	return nil
}

func isBlock(t token) bool { return t.isWord("BEGIN") || t.isWord("DECLARE") }

// statementEnd is the token after a statement: the semicolon, that of END in a block, or the end of the text.
func statementEnd(tokens []token, i int) int {
	block := isBlock(tokens[i])
	for ; tokens[i].kind != tokEnd; i++ {
		if tokens[i].isSymbol(";") && (!block || tokens[i-1].isWord("END")) {
			return i
		}
	}
	return i
}

func lineOf(text string, pos int) int { return 1 + strings.Count(text[:pos], "\n") }

// maskSlashes blanks the lines that hold nothing but a slash; every byte keeps its place.
func maskSlashes(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "/" {
			lines[i] = strings.Replace(line, "/", " ", 1)
		}
	}
	return strings.Join(lines, "\n")
}
