package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile is far above any file a person writes, in bytes.
const maxFile = 1 << 20

// position is a place in a file, both from 1; the zero position is the whole file.
type position struct{ line, column int }

// document is one file being read: where each setting stands, and what is wrong so far.
type document struct {
	file   string
	root   any // pointer to the struct that the file is decoded into
	at     map[string]position
	bad    map[string]bool
	faults Faults
}

func newDocument(file string, root any) *document {
	return &document{file: file, root: root, at: map[string]position{}, bad: map[string]bool{}}
}

// fault reports that a setting is wrong; it stands at its own place, or at that of the nearest setting above.
func (d *document) fault(path, hint, format string, args ...any) {
	d.faultAt(d.place(path), path, hint, format, args...)
}

func (d *document) faultAt(p position, path, hint, format string, args ...any) {
	d.bad[path] = true
	d.faults = append(d.faults, Fault{d.file, p.line, p.column, path, fmt.Sprintf(format, args...), hint})
}

// reject reports why a value was not accepted.
func (d *document) reject(path string, err error) {
	var r *refusal
	if errors.As(err, &r) {
		d.fault(path, r.advice, "%s", r.message)
		return
	}
	d.fault(path, "", "%s", err)
}

func (d *document) place(path string) position {
	for {
		if p, ok := d.at[path]; ok {
			return p
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return position{1, 1}
		}
		path = path[:cut]
	}
}

// given says that the file has the setting.
func (d *document) given(path string) bool { _, ok := d.at[path]; return ok }

// sound says that none of the settings, or of what they hold, was wrong: whether to compare them makes sense.
func (d *document) sound(paths ...string) bool {
	for bad := range d.bad {
		for _, p := range paths {
			if bad == p || strings.HasPrefix(bad, p+".") || strings.HasPrefix(bad, p+"[") {
				return false
			}
		}
	}
	return true
}

// read decodes the file over what root already holds.
func (d *document) read() (ok bool) {
	text, err := readFile(d.file)
	if err != nil {
		d.faultAt(position{}, "", fileAdvice(err), "read file: %s", cause(err))
		return false
	}
	return d.decode(text)
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%d bytes are more than a configuration file has (%d)", info.Size(), maxFile)
	}
	return os.ReadFile(name)
}

// cause is an error without the path, which the fault names already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func fileAdvice(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the path; " + filepath.Join("config", "example", "loadd.yaml") + " is a commented example"
	case errors.Is(err, fs.ErrPermission):
		return "let the user that runs this read it"
	}
	return ""
}

func (d *document) decode(text []byte) (ok bool) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if !d.checkText(text) {
		return false
	}
	file, err := parse(text)
	if err != nil {
		d.syntax(err)
		return false
	}
	body, ok := d.body(file)
	if !ok {
		return false
	}
	d.decodeRoot(body)
	return true
}

// checkText finds what YAML parsers tell badly or not at all.
func (d *document) checkText(text []byte) bool {
	for n, line := range bytes.Split(text, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		tab := bytes.IndexByte(indent, '\t')
		bad := badCharacter(line)
		switch {
		case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
			d.faultAt(position{1, 1}, "", "save the file as UTF-8", "the file is UTF-16")
		case bad >= 0 && !utf8.Valid(line):
			d.faultAt(position{n + 1, utf8.RuneCount(line[:bad]) + 1}, "", "save the file as UTF-8", "not UTF-8: byte 0x%02X", line[bad])
		case bad >= 0:
			d.faultAt(position{n + 1, utf8.RuneCount(line[:bad]) + 1}, "", "", "control character 0x%02X", line[bad])
		case tab >= 0 && len(indent) < len(line):
			d.faultAt(position{n + 1, tab + 1}, "", "indent with spaces", "a tab in the indentation")
		default:
			continue
		}
		return false
	}
	return true
}

// badCharacter is where a line has a byte that is not UTF-8 or a control character, -1 for nowhere.
func badCharacter(line []byte) int {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

// parse is the YAML parser. A panic of the parser is an error of the file: the file may come from anywhere.
func parse(text []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, errors.New("the YAML parser gave up on this file")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// syntax reports a parser's error without its excerpt of the file, which might show a secret.
func (d *document) syntax(err error) {
	var s *yaml.SyntaxError
	if errors.As(err, &s) && s.Token != nil && s.Token.Position != nil {
		p := s.Token.Position
		d.faultAt(position{p.Line, p.Column}, "", "", "not YAML: %s", s.Message)
		return
	}
	d.faultAt(position{}, "", "", "not YAML: %s", err)
}

// body is the mapping that the file must be.
func (d *document) body(file *ast.File) (ast.Node, bool) {
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		d.faultAt(position{}, "", "", "the file is empty")
	case len(file.Docs) > 1:
		d.faultAt(second(file), "", "one file a job; remove the ---", "the file holds more than one YAML document")
	default:
		return bodies[0], true
	}
	return nil, false
}

// second is where the second document begins.
func second(file *ast.File) position {
	if start := file.Docs[1].Start; start != nil && start.Position != nil {
		return position{start.Position.Line, start.Position.Column}
	}
	return position{}
}
