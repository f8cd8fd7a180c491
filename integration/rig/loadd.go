package rig

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

//go:embed loadd.yaml.tmpl
var loaddTemplate string

// An OracleSource is where a daemon file finds Oracle, or its stand-in. The rig does not start either.
type OracleSource struct {
	Name     string // as jobs call it
	Host     string
	Port     int
	Service  string
	User     string
	Password string // a reference, ${env:X} or ${file:/p}
}

// Loadd returns a daemon file, loadd.yaml, for the stack, which must have all parts. Jobs is the pattern of the job files,
// relative to where the file will be.
func (s *Stack) Loadd(source OracleSource, jobs string) (string, error) {
	if s.Postgres.Port == 0 || s.HDFS.NameNode == "" || s.Hive.Port == 0 {
		return "", errors.New("write daemon file: the stack lacks a part, and the file names all")
	}
	if !strings.HasPrefix(source.Password, "${") {
		return "", errors.New("write daemon file: the source's password must be a reference, ${env:X} or ${file:/p}")
	}
	t, err := template.New("loadd.yaml").Parse(loaddTemplate)
	if err != nil {
		return "", fmt.Errorf("write daemon file: %w", err)
	}
	var b strings.Builder
	err = t.Execute(&b, struct {
		Stack  *Stack
		Source OracleSource
		Jobs   string
	}{s, source, jobs})
	if err != nil {
		return "", fmt.Errorf("write daemon file: %w", err)
	}
	return b.String(), nil
}
