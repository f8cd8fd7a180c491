package rig

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// nodeModules is what npm installs: node-oracledb, its version and its checksum.
//
//go:embed npm/package.json npm/package-lock.json
var nodeModules embed.FS

// OracleClients are other people's Oracle drivers, in pinned versions, and what runs them.
type OracleClients struct {
	Python      string // an interpreter that has python-oracledb and pyarrow
	Node        string
	NodeModules string // the folder that has node-oracledb, for NODE_PATH
	Java, Javac string
	OJDBC11     string // jar of the newest driver
	OJDBC8      string // jar of the 19c driver
}

// Oracle returns the Oracle clients. It installs them into .cache at first, and fails the test when it cannot, naming
// what is missing.
func Oracle(t TB) OracleClients {
	t.Helper()
	return installed(t, func(ctx context.Context, root string) (OracleClients, error) {
		c, err := installOracleClients(ctx, root)
		if err != nil {
			return c, fmt.Errorf("install Oracle clients: %w", err)
		}
		return c, nil
	})
}

func installOracleClients(ctx context.Context, root string) (OracleClients, error) {
	t, err := findTools(Hive)
	if err != nil {
		return OracleClients{}, err
	}
	c := OracleClients{Java: t.java, Javac: t.javac}
	npm, err := exec.LookPath("npm")
	if err == nil {
		c.Node, err = exec.LookPath("node")
	}
	if err != nil {
		return c, &MissingError{[]string{"node", "npm"}, []string{"nodejs", "npm"}}
	}
	if c.Python, err = Referees(ctx, root); err != nil {
		return c, err
	}
	a := artifacts{dir: filepath.Join(root, ".cache", "jars"), tools: t}
	for name, jar := range map[string]*string{"ojdbc11": &c.OJDBC11, "ojdbc8": &c.OJDBC8} {
		if *jar, err = a.jar(ctx, name); err != nil {
			return c, err
		}
	}
	c.NodeModules, err = a.npmInstall(ctx, npm)
	return c, err
}

// jar returns the only jar of a set.
func (a artifacts) jar(ctx context.Context, name string) (string, error) {
	dir, err := a.jars(ctx, name)
	if err != nil {
		return "", err
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.jar"))
	if len(found) != 1 {
		return "", fmt.Errorf("find the jar of %s in %s: %d jars", name, dir, len(found))
	}
	return found[0], nil
}

// npmInstall returns the node_modules folder of what npm/package-lock.json pins.
func (a artifacts) npmInstall(ctx context.Context, npm string) (string, error) {
	files := map[string][]byte{}
	var content []byte
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := nodeModules.ReadFile("npm/" + name)
		if err != nil {
			return "", fmt.Errorf("read npm files: %w", err)
		}
		files[name] = b
		content = append(content, b...)
	}
	dir, err := a.once(ctx, "npm", content, func(dir string) error {
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				return fmt.Errorf("write npm files: %w", err)
			}
		}
		cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("install node-oracledb (npm ci): %w\n%s", err, lastLines(string(out)))
		}
		return nil
	})
	return filepath.Join(dir, "node_modules"), err
}
