package rig

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed conf/*
var conf embed.FS

// A configuration is the set of configuration files, as templates, with the digest of all that shapes a stack.
type configuration struct {
	files  *template.Template
	digest string
}

// settings are what the templates read. No value needs escaping: open checks folders, passwords are letters and digits.
type settings struct {
	Dir               string
	Ports             ports
	PostgresPassword  string
	Standalone        bool
	Auth              Auth
	CloseOnDisconnect bool
}

func newConfiguration(s *Stack) (configuration, error) {
	files, err := template.New("conf").Option("missingkey=error").ParseFS(conf, "conf/*")
	if err != nil {
		return configuration{}, fmt.Errorf("read configuration templates: %w", err)
	}
	shape := [][]byte{fileAuth, fmt.Appendf(nil, "%d %s %s %t %s", stateVersion, s.opt.Metastore, s.opt.Auth, s.opt.KeepOnDisconnect, s.opt.TimeZone)}
	for _, tree := range []embed.FS{conf, maven} {
		err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := tree.ReadFile(path)
			shape = append(shape, []byte(path), b)
			return err
		})
		if err != nil {
			return configuration{}, fmt.Errorf("read embedded files: %w", err)
		}
	}
	return configuration{files, digest(shape...)}, nil
}

// write renders the files into the stack's folder. They hold passwords.
func (c configuration) write(s *Stack) error {
	dir := s.dir("conf")
	for _, d := range append(s.webFolders(), dir) {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	v := settings{
		Dir: s.Dir, Ports: s.state.Ports, PostgresPassword: s.state.PostgresPassword,
		Standalone: s.opt.Metastore == Standalone, Auth: s.opt.Auth, CloseOnDisconnect: !s.opt.KeepOnDisconnect,
	}
	for _, t := range c.files.Templates() {
		var b bytes.Buffer
		if err := t.Execute(&b, v); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
		if err := replaceFile(filepath.Join(dir, t.Name()), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if err := replaceFile(s.passwordFile("postgres"), []byte(s.state.PostgresPassword+"\n"), 0o600); err != nil {
		return err
	}
	if err := replaceFile(s.passwordFile("hive"), []byte(s.state.HivePassword+"\n"), 0o600); err != nil {
		return err
	}
	users := fmt.Sprintf("loadctl:%[1]s\nhive:%[1]s\n", s.state.HivePassword)
	return replaceFile(s.usersFile(), []byte(users), 0o600)
}

// usersFile lists who may log in to HiveServer2 in the Custom variant.
func (s *Stack) usersFile() string { return s.dir("conf/users") }
