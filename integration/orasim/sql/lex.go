package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokIdent            // unquoted word, upper-cased in text
	tokQuoted           // "name"
	tokNumber
	tokString   // 'text', unescaped
	tokNational // N'text'
	tokBind     // :name, without the colon, upper-cased unless quoted
	tokSymbol   // operators and punctuation
)

// token is one word of a statement.
type token struct {
	kind     tokenKind
	text     string
	pos, end int // byte offsets in the statement
}

// maxIdentifier is the longest name in bytes.
const maxIdentifier = 128

// lexer cuts a statement into tokens. Comments, hints among them, are skipped.
type lexer struct {
	src string
	at  int
}

// tokenise returns all tokens, the last being tokEnd.
func tokenise(src string) ([]token, error) {
	l := lexer{src: src}
	var all []token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if t.kind == tokEnd {
			return all, nil
		}
	}
}

func errAt(pos, code int, format string, args ...any) *ora.Error {
	e := ora.Errorf(code, format, args...)
	e.Pos = pos
	return e
}

func (l *lexer) next() (token, error) {
	if err := l.skipBlanks(); err != nil {
		return token{}, err
	}
	start := l.at
	if start >= len(l.src) {
		return token{kind: tokEnd, pos: start, end: start}, nil
	}
	c := l.src[start]
	switch {
	case c == '\'':
		return l.stringToken(tokString, start)
	case c == '"':
		return l.quoted(tokQuoted, start)
	case c == ':' && start+1 < len(l.src) && l.src[start+1] == '"':
		l.at++
		return l.quoted(tokBind, start)
	case c == ':' && start+1 < len(l.src) && isBindByte(l.src[start+1:]):
		return l.bind(start), nil
	case c >= '0' && c <= '9', c == '.' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		return l.number(start), nil
	}
	if r, _ := utf8.DecodeRuneInString(l.src[start:]); unicode.IsLetter(r) {
		return l.word(start)
	}
	return l.symbol(start)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isBindByte(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// isWordRune says what may follow the first letter of an unquoted name.
func isWordRune(r rune) bool {
	return r == '_' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func (l *lexer) skipBlanks() error {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest) - 1
			}
			l.at += end + 1
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errAt(l.at, 1742, "comment not terminated properly")
			}
			l.at += end + 4
		default:
			r, n := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != 0 {
				return nil
			}
			l.at += n
		}
	}
	return nil
}

func (l *lexer) take(kind tokenKind, start int, text string) token {
	return token{kind: kind, text: text, pos: start, end: l.at}
}

// stringToken reads 'text' from l.at, which is at the quote.
func (l *lexer) stringToken(kind tokenKind, start int) (token, error) {
	var b strings.Builder
	l.at++
	for {
		end := strings.IndexByte(l.src[l.at:], '\'')
		if end < 0 {
			return token{}, errAt(start, 1756, "quoted string not properly terminated")
		}
		b.WriteString(l.src[l.at : l.at+end])
		l.at += end + 1
		if !strings.HasPrefix(l.src[l.at:], "'") {
			return l.take(kind, start, b.String()), nil
		}
		b.WriteByte('\'')
		l.at++
	}
}

// alternative reads q'[text]' from l.at, which is at the quote.
func (l *lexer) alternative(kind tokenKind, start int) (token, error) {
	rest := l.src[l.at+1:]
	open, n := utf8.DecodeRuneInString(rest)
	if n == 0 || unicode.IsSpace(open) {
		return token{}, errAt(start, 1756, "quoted string not properly terminated")
	}
	closing := string(open)
	if i := strings.IndexRune("[{(<", open); i >= 0 {
		closing = "]})>"[i : i+1]
	}
	end := strings.Index(rest[n:], closing+"'")
	if end < 0 {
		return token{}, errAt(start, 1756, "quoted string not properly terminated")
	}
	l.at += 1 + n + end + len(closing) + 1
	return l.take(kind, start, rest[n:n+end]), nil
}

// quoted reads "name" from l.at, which is at the double quote.
func (l *lexer) quoted(kind tokenKind, start int) (token, error) {
	rest := l.src[l.at+1:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		return token{}, errAt(start, 1740, "missing double quote in identifier")
	}
	l.at += end + 2
	name := rest[:end]
	switch {
	case name == "":
		return token{}, errAt(start, 1741, "illegal zero-length identifier")
	case len(name) > maxIdentifier:
		return token{}, errAt(start, 972, "identifier is too long")
	case strings.ContainsRune(name, 0):
		return token{}, errAt(start, 911, "invalid character")
	}
	return l.take(kind, start, name), nil
}

func (l *lexer) bind(start int) token {
	l.at++
	from := l.at
	l.skipWord()
	return l.take(tokBind, start, strings.ToUpper(l.src[from:l.at]))
}

func (l *lexer) skipWord() {
	for l.at < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.at:])
		if !isWordRune(r) {
			return
		}
		l.at += n
	}
}

// number reads 12, 1.5, .5, 1e-3, 1.5f, 1d.
func (l *lexer) number(start int) token {
	l.digits()
	if strings.HasPrefix(l.src[l.at:], ".") && !strings.HasPrefix(l.src[l.at:], "..") {
		l.at++
		l.digits()
	}
	if l.at < len(l.src) && (l.src[l.at] == 'e' || l.src[l.at] == 'E') {
		mark := l.at
		l.at++
		if l.at < len(l.src) && (l.src[l.at] == '+' || l.src[l.at] == '-') {
			l.at++
		}
		if l.at == len(l.src) || !isDigit(l.src[l.at]) {
			l.at = mark
			return l.take(tokNumber, start, l.src[start:l.at])
		}
		l.digits()
	}
	if l.at < len(l.src) && strings.IndexByte("fFdD", l.src[l.at]) >= 0 {
		if r, _ := utf8.DecodeRuneInString(l.src[l.at+1:]); !isWordRune(r) {
			l.at++
		}
	}
	return l.take(tokNumber, start, strings.ToLower(l.src[start:l.at]))
}

func (l *lexer) digits() {
	for l.at < len(l.src) && isDigit(l.src[l.at]) {
		l.at++
	}
}

// word reads an unquoted name, or a string with a prefix: N'..', q'[..]', nq'[..]'.
func (l *lexer) word(start int) (token, error) {
	l.skipWord()
	text := strings.ToUpper(l.src[start:l.at])
	if l.at < len(l.src) && l.src[l.at] == '\'' {
		switch text {
		case "N":
			return l.stringToken(tokNational, start)
		case "Q":
			return l.alternative(tokString, start)
		case "NQ":
			return l.alternative(tokNational, start)
		}
	}
	if len(text) > maxIdentifier {
		return token{}, errAt(start, 972, "identifier is too long")
	}
	return l.take(tokIdent, start, text), nil
}

func (l *lexer) symbol(start int) (token, error) {
	rest := l.src[start:]
	for _, s := range [...]string{"<>", "!=", "^=", "<=", ">=", "||", "=>", ":=", ".."} {
		if strings.HasPrefix(rest, s) {
			l.at += 2
			if s == "!=" || s == "^=" {
				s = "<>"
			}
			return l.take(tokSymbol, start, s), nil
		}
	}
	if strings.IndexByte("()+-*/,.;=<>@%[]:", rest[0]) >= 0 {
		l.at++
		return l.take(tokSymbol, start, rest[:1]), nil
	}
	return token{}, errAt(start, 911, "invalid character")
}
