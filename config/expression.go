package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expression is a condition on rows in Oracle's SQL, with the placeholders :date and :key. It was read by a
// lexer that refuses whatever could end the condition or begin something else, so that it can stand in
// parentheses after WHERE. What functions it calls is up to Oracle and the login's rights.
type Expression struct{ tokens []token }

// UnmarshalText reads a condition.
func (e *Expression) UnmarshalText(text []byte) error {
	tokens, err := lex(string(text))
	if err != nil {
		return err
	}
	if err := checkExpression(tokens); err != nil {
		return err
	}
	e.tokens = tokens
	return nil
}

// IsZero says that there is no condition.
func (e Expression) IsZero() bool { return len(e.tokens) == 0 }

// String is the condition as written.
func (e Expression) String() string {
	var b strings.Builder
	for _, t := range e.tokens {
		b.WriteString(t.text)
	}
	return strings.TrimSpace(b.String())
}

// MarshalText is String.
func (e Expression) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Render is the condition with its placeholders replaced by literals: :date by DATE '2026-09-28', which depends
// on no session setting, :key by the key's text.
func (e Expression) Render(d Date) string {
	var b strings.Builder
	for _, t := range e.tokens {
		switch {
		case t.kind != tokenPlaceholder:
			b.WriteString(t.text)
		case strings.EqualFold(t.text, ":date"):
			b.WriteString("DATE '" + d.String() + "'")
		default:
			b.WriteString("'" + d.String() + "'")
		}
	}
	return strings.TrimSpace(b.String())
}

type tokenKind int

const (
	tokenSpace tokenKind = iota
	tokenWord
	tokenQuoted // "name"
	tokenString // 'text', q'[text]'
	tokenNumber
	tokenPlaceholder
	tokenSign
)

type token struct {
	kind tokenKind
	text string
	at   int // character, from 1
}

// lex cuts text into tokens, all of it: joined again they are the text.
func lex(text string) ([]token, error) {
	var tokens []token
	for at, rest := 1, text; rest != ""; {
		kind, n, err := next(rest, at)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token{kind, rest[:n], at})
		at += utf8.RuneCountInString(rest[:n])
		rest = rest[n:]
	}
	return tokens, nil
}

// next finds the kind and length of the first token.
func next(s string, at int) (tokenKind, int, error) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == ' ' || r == '\n' || r == '\t':
		return tokenSpace, len(s) - len(strings.TrimLeft(s, " \n\t")), nil
	case r == '\'':
		n, err := stringEnd(s, at)
		return tokenString, n, err
	case r == '"':
		end := strings.IndexByte(s[1:], '"')
		if end <= 0 {
			return 0, 0, refuse("the double quote at character %d is not closed", at)
		}
		return tokenQuoted, end + 2, nil
	case r == ':':
		n := 1 + wordEnd(s[1:])
		return tokenPlaceholder, n, nil
	case unicode.IsDigit(r):
		return tokenNumber, wordEnd(s), nil
	case unicode.IsLetter(r):
		return nextWord(s, at)
	case strings.ContainsRune("+-*/=<>!^~|,.()", r):
		return tokenSign, size, nil
	case r == ';':
		return 0, 0, refuse("a ; at character %d: an expression is wanted, not statements", at)
	}
	return 0, 0, refuse("the character %q at character %d has no place in an expression", r, at)
}

// nextWord is a word, or a literal that begins with a letter: N'text', q'[text]', nq'[text]'.
func nextWord(s string, at int) (tokenKind, int, error) {
	n := wordEnd(s)
	if n == len(s) || s[n] != '\'' {
		return tokenWord, n, nil
	}
	switch strings.ToLower(s[:n]) {
	case "n":
		end, err := stringEnd(s[n:], at+n)
		return tokenString, n + end, err
	case "q", "nq":
		end, err := altEnd(s[n:], at+n)
		return tokenString, n + end, err
	}
	return tokenWord, n, nil // as in DATE'2026-09-28'
}

func wordEnd(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$#", r) {
			return i
		}
	}
	return len(s)
}

// stringEnd is the length of the literal that s begins with; a doubled quote stands for one.
func stringEnd(s string, at int) (int, error) {
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			i++
			continue
		}
		return i + 1, nil
	}
	return 0, refuse("the quote at character %d is not closed", at)
}

// altEnd is the length of '[text]' after a q: the text ends at the closing sign followed by a quote.
func altEnd(s string, at int) (int, error) {
	open, size := utf8.DecodeRuneInString(s[1:])
	if size == 0 || unicode.IsSpace(open) {
		return 0, refuse("the quote at character %d is not closed", at)
	}
	closing := string(open)
	if i := strings.IndexRune("[{(<", open); i >= 0 {
		closing = "]})>"[i : i+1]
	}
	end := strings.Index(s[1+size:], closing+"'")
	if end < 0 {
		return 0, refuse("the quote at character %d is not closed by %s'", at, closing)
	}
	return 1 + size + end + len(closing) + 1, nil
}

// statementWords begin or continue a statement; none has a place in a condition. Those that Oracle does not
// reserve can name a column, in double quotes.
var statementWords = map[string]bool{
	"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "MERGE": true, "TRUNCATE": true, "CREATE": true,
	"ALTER": true, "DROP": true, "GRANT": true, "REVOKE": true, "RENAME": true, "COMMIT": true, "ROLLBACK": true,
	"SAVEPOINT": true, "BEGIN": true, "DECLARE": true, "EXECUTE": true, "CALL": true, "LOCK": true, "EXPLAIN": true,
	"FLASHBACK": true, "PURGE": true, "ANALYZE": true, "AUDIT": true, "WHERE": true, "UNION": true, "INTERSECT": true,
	"MINUS": true, "EXCEPT": true, "ORDER": true, "GROUP": true, "HAVING": true, "CONNECT": true, "START": true,
	"FOR": true, "FETCH": true, "OFFSET": true, "INTO": true, "RETURNING": true, "SET": true,
}

// volatileWords give every statement of a run another answer, so that counting and reading would not see the
// same rows.
var volatileWords = map[string]bool{
	"SYSDATE": true, "SYSTIMESTAMP": true, "CURRENT_DATE": true, "CURRENT_TIMESTAMP": true, "LOCALTIMESTAMP": true,
	"ROWNUM": true, "LEVEL": true, "NEXTVAL": true, "CURRVAL": true, "DBMS_RANDOM": true, "SYS_GUID": true,
}

func checkExpression(tokens []token) error {
	meaning, depth := 0, []int(nil)
	for i, t := range tokens {
		if t.kind != tokenSpace {
			meaning++
		}
		switch {
		case t.kind == tokenWord && statementWords[strings.ToUpper(t.text)]:
			return refuse("%s at character %d: an expression is wanted, not a statement or its clauses", strings.ToUpper(t.text), t.at).
				hint(`a column of that name is written in double quotes; for a query over several tables make a view`)
		case t.kind == tokenWord && volatileWords[strings.ToUpper(t.text)]:
			return refuse("%s at character %d differs from one statement of a run to the next", strings.ToUpper(t.text), t.at).
				hint("use :date; a column of that name is written in double quotes")
		case t.kind == tokenPlaceholder && !strings.EqualFold(t.text, ":date") && !strings.EqualFold(t.text, ":key"):
			return refuse("%q at character %d is no placeholder", t.text, t.at).hint("use :date or :key")
		case t.kind == tokenSign && i > 0 && isComment(tokens[i-1].text+t.text):
			return refuse("a comment at character %d", tokens[i-1].at).hint("comment in YAML, with #")
		case t.text == "(":
			depth = append(depth, t.at)
		case t.text == ")" && len(depth) == 0:
			return refuse("the ) at character %d closes nothing", t.at)
		case t.text == ")":
			depth = depth[:len(depth)-1]
		}
	}
	if len(depth) > 0 {
		return refuse("the ( at character %d is not closed", depth[len(depth)-1])
	}
	if meaning == 0 {
		return refuse("an empty condition").hint("leave the key out to read every row")
	}
	return nil
}

func isComment(pair string) bool { return pair == "--" || pair == "/*" || pair == "*/" }

// Hint is the text of an optimizer hint without its comment signs; "" means none.
type Hint string

// UnmarshalText reads a hint; blank means none.
func (h *Hint) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	switch {
	case strings.Contains(s, "*/") || strings.Contains(s, "/*"):
		return refuse("a hint holds a comment sign").hint("write only its words, as in FULL(t)")
	case strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, ";"):
		return refuse("a hint is one line without ;")
	case len(s) > 1000:
		return refuse("a hint of %d bytes", len(s)).hint("at most 1000")
	}
	*h = Hint(strings.TrimSpace(strings.TrimPrefix(s, "+")))
	return nil
}

func (*Hint) blankIsNone() {}

// SessionStatement is an ALTER SESSION statement.
type SessionStatement string

// pinned are the parameters that loadctl sets in every session, so that a value means the same everywhere.
var pinned = []string{"NLS_", "TIME_ZONE", "CONTAINER", "CURRENT_SCHEMA", "ISOLATION_LEVEL"}

// UnmarshalText reads ALTER SESSION SET|ENABLE|DISABLE|FORCE ... and nothing else.
func (s *SessionStatement) UnmarshalText(text []byte) error {
	tokens, err := lex(string(text))
	if err != nil {
		return err
	}
	var words []string
	for i, t := range tokens {
		if t.kind == tokenPlaceholder || i > 0 && isComment(tokens[i-1].text+t.text) {
			return refuse("%q has no place in ALTER SESSION", t.text)
		}
		if t.kind == tokenWord || t.kind == tokenQuoted {
			words = append(words, strings.ToUpper(strings.Trim(t.text, `"`)))
		}
	}
	if len(words) < 3 || words[0] != "ALTER" || words[1] != "SESSION" {
		return refuse("only ALTER SESSION statements are allowed here")
	}
	for _, w := range words[2:] {
		for _, p := range pinned {
			if w == p || strings.HasSuffix(p, "_") && strings.HasPrefix(w, p) {
				return refuse("%s is set by loadctl itself, the same in every session", w).hint(pinnedAdvice(w))
			}
		}
	}
	*s = SessionStatement(strings.TrimSpace(string(text)))
	return nil
}

func pinnedAdvice(parameter string) string {
	if parameter == "CURRENT_SCHEMA" {
		return "write the schema in source.table"
	}
	return "leave it out"
}
