package rig

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What Maven 3.8 prints, one line each, addresses replaced.
var mavenFailures = map[string]struct {
	output string
	want   []string
}{
	"not there": {
		`[ERROR] Failed to execute goal on project hdfs: Could not resolve dependencies for project com.github.loadctl.rig:hdfs:pom:1: The following artifacts could not be resolved: org.apache.hadoop:hadoop-hdfs:jar:3.4.99, org.apache.hadoop:hadoop-common:jar:3.4.99: Could not find artifact org.apache.hadoop:hadoop-hdfs:jar:3.4.99 in central (http://repo.invalid/) -> [Help 1]`,
		[]string{"org.apache.hadoop:hadoop-common:jar:3.4.99", "org.apache.hadoop:hadoop-hdfs:jar:3.4.99"},
	},
	"no network": {
		`[ERROR] Failed to execute goal on project hdfs: Could not resolve dependencies for project com.github.loadctl.rig:hdfs:pom:1: Failed to collect dependencies at org.apache.hadoop:hadoop-hdfs:jar:3.4.1: Failed to read artifact descriptor for org.apache.hadoop:hadoop-hdfs:jar:3.4.1: Could not transfer artifact org.apache.hadoop:hadoop-hdfs:pom:3.4.1 from/to central (http://repo.invalid/): Connection refused -> [Help 1]`,
		[]string{"org.apache.hadoop:hadoop-hdfs:jar:3.4.1", "org.apache.hadoop:hadoop-hdfs:pom:3.4.1"},
	},
	"no plugin": {
		`[ERROR] Plugin org.apache.maven.plugins:maven-dependency-plugin:3.6.999 or one of its dependencies could not be resolved: org.apache.maven.plugins:maven-dependency-plugin:jar:3.6.999 was not found in http://repo.invalid/ during a previous attempt. -> [Help 1]`,
		[]string{"org.apache.maven.plugins:maven-dependency-plugin:jar:3.6.999"},
	},
	"classifier": {
		`[ERROR] Could not find artifact org.apache.hive:hive-standalone-metastore-server:tar.gz:bin:4.0.1 in central (http://repo.invalid/)`,
		[]string{"org.apache.hive:hive-standalone-metastore-server:tar.gz:bin:4.0.1"},
	},
	"broken pom": {`[ERROR] Non-parseable POM /tmp/pom.xml: end tag name </a> must match`, nil},
}

func TestArtifactErrorNamesWhatIsMissing(t *testing.T) {
	for name, tt := range mavenFailures {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mvn := filepath.Join(dir, "mvn")
			script := "#!/bin/sh\ncat <<'EOF'\n" + tt.output + "\nEOF\nexit 1\n"
			if err := os.WriteFile(mvn, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			jars := artifacts{dir: filepath.Join(dir, "jars"), tools: tools{mvn: mvn}}
			_, err := jars.jars(t.Context(), "hdfs")
			var missing *ArtifactError
			if !errors.As(err, &missing) {
				t.Fatalf("got %v, want an ArtifactError", err)
			}
			if !slices.Equal(missing.Artifacts, tt.want) {
				t.Errorf("got artifacts %q, want %q", missing.Artifacts, tt.want)
			}
			for _, want := range append(tt.want, missing.Log) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "jars", "hdfs-????????????")); len(found) != 0 {
				t.Errorf("failed download left %q as if whole", found)
			}
		})
	}
}

func TestOnceFillsOnceAndAgainAfterFailure(t *testing.T) {
	a := artifacts{dir: t.TempDir()}
	fills := 0
	fill := func(dir string) error {
		fills++
		if fills == 1 {
			return errors.New("cut off")
		}
		return os.WriteFile(filepath.Join(dir, "jar"), nil, 0o644)
	}
	if _, err := a.once(t.Context(), "x", []byte("pom"), fill); err == nil {
		t.Fatal("no error from a failed fill")
	}
	first, err := a.once(t.Context(), "x", []byte("pom"), fill)
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.once(t.Context(), "x", []byte("pom"), fill)
	if err != nil || second != first || fills != 2 {
		t.Fatalf("again: got %s, %v after %d fills, want %s after 2", second, err, fills, first)
	}
	if _, err := os.Stat(filepath.Join(first, "jar")); err != nil {
		t.Fatal(err)
	}
	other, err := a.once(t.Context(), "x", []byte("another pom"), fill)
	if err != nil || other == first || fills != 3 {
		t.Fatalf("another pom: got %s, %v after %d fills, want another folder", other, err, fills)
	}
}
