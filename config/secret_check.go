package config

import (
	"os"
	"reflect"
	"strings"
)

// CheckSecrets tries every secret of the daemon file without keeping any. The error is Faults; warnings are
// files that everybody may read.
func (c *Config) CheckSecrets() (warnings Faults, err error) {
	doc := c.sources[""]
	found := map[string]Secret{}
	findSecrets(reflect.ValueOf(c.Daemon), "", found)
	var faults Faults
	for path, s := range found {
		p := doc.place(path)
		fault := Fault{doc.file, p.line, p.column, path, "", ""}
		if _, err := s.Reveal(); err != nil {
			fault.Message = err.Error()
			faults = append(faults, fault)
		} else if fault.Message = s.exposed(); fault.Message != "" {
			fault.Hint = "chmod 0640 " + s.name
			warnings = append(warnings, fault)
		}
	}
	warnings.sort()
	faults.sort()
	return warnings, faults.orNil()
}

// exposed is the warning of a file that can be read, "" when there is none.
func (s Secret) exposed() string {
	if s.scheme != "file" {
		return ""
	}
	f, err := os.Open(s.name)
	if err != nil {
		return ""
	}
	defer f.Close()
	warning, _ := s.exposure(f) // Reveal has told the errors
	return warning
}

func findSecrets(v reflect.Value, path string, found map[string]Secret) {
	if s, ok := v.Interface().(Secret); ok {
		if !s.IsZero() {
			found[path] = s
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			findSecrets(v.Elem(), path, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			findSecrets(v.MapIndex(key), join(path, key.String()), found)
		}
	case reflect.Struct:
		for _, s := range settings(v.Type()) {
			findSecrets(v.FieldByIndex(s.field.Index), strings.TrimPrefix(path+"."+s.name, "."), found)
		}
	}
}
