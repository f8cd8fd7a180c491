package config

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The decoder walks a YAML tree beside a Go value and goes on after each fault, which the yaml package's own
// decoder does not. Struct tags say the rest: yaml (name), default, min, max, required.

// lister is a type that is a word or a list of names; ordered one that is a mapping whose order counts; blank
// one that may be left without a value.
type (
	lister interface {
		setList(names []Identifier)
	}
	ordered interface {
		add(d *document, path, key, text string)
	}
	blank interface {
		blankIsNone()
	}
)

var durationType = reflect.TypeFor[time.Duration]()

// setting is a field of a struct as its tags describe it.
type setting struct {
	name, def, min, max string
	required            bool
	field               reflect.StructField
}

func settings(t reflect.Type) []setting {
	var out []setting
	for f := range t.Fields() {
		if name := f.Tag.Get("yaml"); name != "" {
			tag := f.Tag.Get
			out = append(out, setting{name, tag("default"), tag("min"), tag("max"), tag("required") == "true", f})
		}
	}
	return out
}

// section says that a type is a group of settings rather than a value.
func section(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && len(settings(t)) > 0
}

// setDefaults fills a struct from its tags. A default that its own type refuses is a mistake in this package,
// which a test would show.
func setDefaults(v reflect.Value) {
	for _, s := range settings(v.Type()) {
		f := v.FieldByIndex(s.field.Index)
		if section(f.Type()) {
			setDefaults(f)
		} else if s.def != "" {
			if err := setText(f, s.def); err != nil {
				panic(fmt.Sprintf("default of %s.%s: %v", v.Type(), s.field.Name, err))
			}
		}
	}
}

func (d *document) decodeRoot(n ast.Node) {
	d.decodeStruct(reflect.ValueOf(d.root).Elem(), "", n)
}

func place(n ast.Node) position {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{}
}

// value decodes a node into v.
func (d *document) value(v reflect.Value, path string, n ast.Node) {
	p := v.Addr().Interface()
	if o, ok := p.(ordered); ok {
		d.decodeOrdered(o, path, n)
		return
	}
	if l, ok := p.(lister); ok && n.Type() == ast.SequenceType {
		d.decodeList(l, path, n)
		return
	}
	switch {
	case section(v.Type()):
		d.decodeStruct(v, path, n)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setDefaults(v.Elem())
		d.decodeStruct(v.Elem(), path, n)
	case v.Kind() == reflect.Map:
		d.decodeMap(v, path, n)
	case v.Kind() == reflect.Slice:
		d.decodeSlice(v, path, n)
	default:
		d.decodeScalar(v, path, n)
	}
}

// pair is one key of a mapping with its value.
type pair struct {
	key   string
	at    position
	value ast.Node
}

// pairs lists a mapping, each key once; a key that is there again is reported.
func (d *document) pairs(path string, n ast.Node) ([]pair, bool) {
	var nodes []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		nodes = m.Values
	case *ast.MappingValueNode:
		nodes = []*ast.MappingValueNode{m}
	default:
		d.wrongShape(path, "settings below it", n)
		return nil, false
	}
	seen := map[string]position{}
	var out []pair
	for _, m := range nodes {
		key, ok := d.key(path, m)
		if !ok {
			continue
		}
		if first, twice := seen[key.key]; twice {
			d.faultAt(key.at, join(path, key.key), fmt.Sprintf("it is on line %d too", first.line), "given twice")
			continue
		}
		seen[key.key] = key.at
		out = append(out, key)
	}
	return out, true
}

func (d *document) key(path string, m *ast.MappingValueNode) (pair, bool) {
	at := place(m.Key)
	switch m.Key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
	case *ast.MergeKeyNode:
		d.faultAt(at, path, "write the settings out", "merge keys are not supported")
		return pair{}, false
	default:
		d.faultAt(at, path, `a value with braces is written in quotes, as in "{date}"`, "a key must be plain text")
		return pair{}, false
	}
	text := m.Key.GetToken().Value
	if m.Value == nil {
		d.faultAt(at, join(path, text), "", "has no value")
		return pair{}, false
	}
	return pair{text, at, m.Value}, true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// decodeStruct decodes a section. One with nothing below it is at its defaults: that is what remains of a
// section of the example whose lines are all commented out.
func (d *document) decodeStruct(v reflect.Value, path string, n ast.Node) {
	var pairs []pair
	if n.Type() != ast.NullType {
		var ok bool
		if pairs, ok = d.pairs(path, n); !ok {
			return
		}
	}
	known := settings(v.Type())
	for _, p := range pairs {
		d.decodeSetting(v, known, path, p)
	}
	for _, s := range known {
		if full := join(path, s.name); s.required && !d.given(full) && d.sound(full) {
			d.fault(full, "", "is required")
		}
	}
}

func (d *document) decodeSetting(v reflect.Value, known []setting, path string, p pair) {
	full := join(path, p.key)
	for _, s := range known {
		if s.name != p.key {
			continue
		}
		d.at[full] = p.at
		f := v.FieldByIndex(s.field.Index)
		before := len(d.faults)
		d.value(f, full, p.value)
		if len(d.faults) == before {
			d.checkRange(f, s, full)
		}
		return
	}
	d.faultAt(p.at, full, d.whereItBelongs(known, p.key), "unknown setting")
}

// whereItBelongs is the hint for an unknown setting: one of its siblings, or the section it was meant for.
func (d *document) whereItBelongs(siblings []setting, key string) string {
	var names []string
	for _, s := range siblings {
		names = append(names, s.name)
	}
	if near := nearest(key, names); near != "" {
		return "did you mean " + near + "?"
	}
	if home := findSetting(reflect.TypeOf(d.root).Elem(), "", key); home != "" {
		return "it belongs at " + home
	}
	return "known here: " + strings.Join(names, ", ")
}

// findSetting is the path of the first setting of a name.
func findSetting(t reflect.Type, path, key string) string {
	for _, s := range settings(t) {
		full, ft := join(path, s.name), s.field.Type
		if s.name == key {
			return full
		}
		switch {
		case ft.Kind() == reflect.Pointer:
			ft = ft.Elem()
		case ft.Kind() == reflect.Map:
			full, ft = full+".NAME", ft.Elem()
		}
		if section(ft) {
			if found := findSetting(ft, full, key); found != "" {
				return found
			}
		}
	}
	return ""
}

func (d *document) decodeMap(v reflect.Value, path string, n ast.Node) {
	pairs, ok := d.pairs(path, n)
	if !ok {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, p := range pairs {
		full := join(path, p.key)
		d.at[full] = p.at
		item := reflect.New(v.Type().Elem()).Elem()
		if section(item.Type()) {
			setDefaults(item)
		}
		d.value(item, full, p.value)
		v.SetMapIndex(reflect.ValueOf(p.key), item)
	}
}

func (d *document) decodeSlice(v reflect.Value, path string, n ast.Node) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrongShape(path, "a list", n)
		return
	}
	for i, item := range seq.Values {
		full := path + "[" + strconv.Itoa(i) + "]"
		d.at[full] = place(item)
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(one, full, item)
		v.Set(reflect.Append(v, one))
	}
	if len(seq.Values) == 0 {
		d.fault(path, "leave the key out", "an empty list")
	}
}

func (d *document) decodeList(l lister, path string, n ast.Node) {
	var names []Identifier
	d.decodeSlice(reflect.ValueOf(&names).Elem(), path, n)
	l.setList(names)
}

func (d *document) decodeOrdered(o ordered, path string, n ast.Node) {
	pairs, ok := d.pairs(path, n)
	if !ok {
		return
	}
	for _, p := range pairs {
		full := join(path, p.key)
		d.at[full] = p.at
		if text, ok := d.scalar(full, "text", p.value); ok {
			o.add(d, full, p.key, text)
		}
	}
	if len(pairs) == 0 {
		d.fault(path, "leave the key out", "no settings below it")
	}
}

func (d *document) decodeScalar(v reflect.Value, path string, n ast.Node) {
	if _, ok := v.Addr().Interface().(blank); ok && n.Type() == ast.NullType {
		return
	}
	text, ok := d.scalar(path, wanted(v.Type()), n)
	if !ok {
		return
	}
	if err := setText(v, text); err != nil {
		d.reject(path, err)
	}
}

// scalar is the text of a single value as it was written, so that 0640 and 1.10 keep their digits.
func (d *document) scalar(path, want string, n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	d.wrongShape(path, want, n)
	return "", false
}

func (d *document) wrongShape(path, want string, n ast.Node) {
	switch n.(type) {
	case *ast.NullNode:
		d.fault(path, "give it a value or leave the key out", "has no value")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.fault(path, "write the value out", "YAML anchors, aliases and tags are not supported")
	case *ast.MappingNode, *ast.MappingValueNode:
		d.fault(path, `a value with braces is written in quotes, as in "{date}"`, "must be %s, not settings below it", want)
	case *ast.SequenceNode:
		d.fault(path, "", "must be %s, not a list", want)
	default:
		d.fault(path, "", "must be %s, not a single value", want)
	}
}

// wanted names what a scalar of a type must be.
func wanted(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "a whole number"
	}
	return "text"
}

var wholeNumber = regexp.MustCompile(`^(?:0|-?[1-9][0-9]*)$`)

// setText sets a value from its text, by the value's type.
func setText(v reflect.Value, text string) error {
	switch p := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case enum:
		if err := p.Words().check(text); err != nil {
			return err
		}
		v.SetString(text)
		return nil
	}
	switch {
	case v.Type() == durationType:
		n, err := parseDuration(text)
		v.SetInt(int64(n))
		return err
	case v.Kind() == reflect.Int:
		return setInt(v, text)
	case v.Kind() == reflect.Bool:
		v.SetBool(text == "true")
		if text != "true" && text != "false" {
			return refuse("%q is neither true nor false", text)
		}
	default:
		return setString(v, text)
	}
	return nil
}

func setInt(v reflect.Value, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case !wholeNumber.MatchString(text):
		return refuse("%q is not a whole number", text)
	case err != nil:
		return refuse("%s is too large", text)
	}
	v.SetInt(n)
	return nil
}

func setString(v reflect.Value, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return refuse("is empty").hint("leave the key out")
	case strings.HasPrefix(text, "${"):
		return refuse("a reference where none is read").hint("only passwords are references; write the value")
	case strings.ContainsAny(text, "\n\x00"):
		return refuse("must be one line")
	}
	v.SetString(text)
	return nil
}

// checkRange compares a number, duration or size with its tags.
func (d *document) checkRange(v reflect.Value, s setting, path string) {
	if s.min == "" || !v.CanInt() {
		return
	}
	low, high := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	if err := setText(low, s.min); err != nil {
		panic(fmt.Sprintf("min of %s: %v", path, err))
	}
	if err := setText(high, s.max); err != nil {
		panic(fmt.Sprintf("max of %s: %v", path, err))
	}
	if v.Int() < low.Int() || v.Int() > high.Int() {
		d.fault(path, fmt.Sprintf("from %s to %s", s.min, s.max), "%s is out of range", show(v))
	}
}

// show writes a number, duration or size as one would in a file.
func show(v reflect.Value) string {
	switch n := v.Interface().(type) {
	case time.Duration:
		return formatDuration(n)
	case fmt.Stringer:
		return n.String()
	}
	return fmt.Sprint(v.Interface())
}
