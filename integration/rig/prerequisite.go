package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A MissingError names programs that the rig needs and this machine lacks.
type MissingError struct {
	Programs []string // as called, such as "mvn"
	Packages []string // the Debian packages that bring them
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("find %s: not on this machine; on Debian, as root: apt-get install -y %s (integration/rig/prepare.sh does it)",
		strings.Join(e.Programs, ", "), strings.Join(e.Packages, " "))
}

// tools are the programs of other people that the rig runs. (PostgreSQL's are ledgertest's to find.)
type tools struct {
	java, javac, mvn string
}

// findTools looks up what the parts need, and reports all that is missing at once.
func findTools(parts Part) (tools, error) {
	var t tools
	var missing MissingError
	want := func(path *string, name, pkg string, find func(string) (string, error)) {
		var err error
		if *path, err = find(name); err != nil {
			missing.Programs = append(missing.Programs, name)
			if len(missing.Packages) == 0 || missing.Packages[len(missing.Packages)-1] != pkg {
				missing.Packages = append(missing.Packages, pkg)
			}
		}
	}
	if parts&(HDFS|Hive) != 0 {
		want(&t.java, "java", "openjdk-17-jdk-headless", findJava)
		want(&t.javac, "javac", "openjdk-17-jdk-headless", findJava)
		want(&t.mvn, "mvn", "maven", exec.LookPath)
	}
	if missing.Programs != nil {
		return t, &missing
	}
	return t, nil
}

// findJava prefers JAVA_HOME, as Maven does.
func findJava(name string) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return exec.LookPath(filepath.Join(home, "bin", name))
	}
	return exec.LookPath(name)
}
