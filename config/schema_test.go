package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "write the schemas anew")

func TestSchemaIsCurrent(t *testing.T) {
	for kind, root := range roots() {
		want := generate(t, root, kind)
		file := "schema/" + string(kind) + ".json"
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := Schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./config", file)
		}
	}
}

// Every setting has a description, and the schema has the settings of the structs, no more and no fewer.
func TestSchemaHasEverySetting(t *testing.T) {
	for kind, root := range roots() {
		text, err := Schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		var got []string
		collect(s, "", &got)
		if want := paths(root, ""); !slices.Equal(got, want) {
			t.Errorf("%s: schema has\n%v, structs have\n%v", kind, got, want)
		}
		if n := bytes.Count(text, []byte(`"description"`)); n < len(got) {
			t.Errorf("%s: %d descriptions for %d settings", kind, n, len(got))
		}
	}
}

func TestSchemaOfUnknownKind(t *testing.T) {
	if _, err := Schema("jobs"); err == nil || !strings.Contains(err.Error(), "did you mean job?") {
		t.Fatalf("got %v, want a suggestion", err)
	}
}

func roots() map[Kind]reflect.Type {
	return map[Kind]reflect.Type{KindDaemon: reflect.TypeFor[Daemon](), KindJob: reflect.TypeFor[Job]()}
}

// collect lists the settings of a schema, in order.
func collect(s map[string]any, path string, out *[]string) {
	if item, ok := s["additionalProperties"].(map[string]any); ok {
		collect(item, path, out)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		*out = append(*out, join(path, name))
		collect(p.(map[string]any), join(path, name), out)
	}
	slices.Sort(*out)
}

// paths lists the settings of a struct, in order, the names in maps left out.
func paths(t reflect.Type, path string) []string {
	var out []string
	for _, s := range settings(t) {
		full := join(path, s.name)
		out = append(out, full)
		if ft := held(s.field.Type); section(ft) {
			out = append(out, paths(ft, full)...)
		}
	}
	slices.Sort(out)
	return out
}

func held(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Map {
		return t.Elem()
	}
	return t
}

func generate(t *testing.T, root reflect.Type, kind Kind) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		FieldNameTag: "yaml", DoNotReference: true, RequiredFromJSONSchemaTags: true, Anonymous: true, Mapper: leaf,
	}
	if err := r.AddGoComments("github.com/loadctl/loadctl/config", "./"); err != nil {
		t.Fatal(err)
	}
	s := r.ReflectFromType(root)
	s.Title = "loadctl " + string(kind) + " file"
	annotate(s, root)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// annotate adds what the tags say.
func annotate(s *jsonschema.Schema, t reflect.Type) {
	for _, f := range settings(t) {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			continue
		}
		if f.required {
			s.Required = append(s.Required, f.name)
		}
		if f.def != "" {
			p.Default = natural(f.field.Type, f.def)
		}
		if f.min != "" && f.field.Type.Kind() == reflect.Int {
			p.Minimum, p.Maximum = json.Number(f.min), json.Number(f.max)
		} else if f.min != "" {
			p.Description += " From " + f.min + " to " + f.max + "."
		}
		switch {
		case !section(held(f.field.Type)):
		case f.field.Type.Kind() == reflect.Map:
			annotate(p.AdditionalProperties, f.field.Type.Elem())
		default:
			annotate(p, held(f.field.Type))
		}
	}
}

func natural(t reflect.Type, text string) any {
	switch t.Kind() {
	case reflect.Bool:
		return text == "true"
	case reflect.Int:
		return json.Number(text)
	}
	return text
}

// leaf is the schema of a type that is written as one value.
func leaf(t reflect.Type) *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	switch reflect.Zero(t).Interface().(type) {
	case time.Duration:
		text.Pattern = `^(\d+(\.\d+)?(ms|s|m|h|d))+$`
	case Size:
		text.Pattern = `^\d+ ?(B|KiB|MiB|GiB|TiB)$`
	case Secret:
		text.Pattern = secretReference.String()
	case JobName:
		text.Pattern = plainName.String()
	case FileMode:
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}}
	case Columns, Metrics:
		list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{text, list}}
	case PartitionTemplate:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: text}
	case Identifier, TableName, TargetTable, Expression, Hint, SessionStatement, Template, Zone, TypeName:
	case enum:
		for _, w := range reflect.Zero(t).Interface().(enum).Words().Accepted {
			text.Enum = append(text.Enum, w)
		}
	default:
		return nil
	}
	return text
}
