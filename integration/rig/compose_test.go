package rig

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// composeService is what the test looks at.
type composeService struct {
	Image       string
	Command     any
	Environment map[string]string
	Ports       []string
	Volumes     []string
	NetworkMode string               `yaml:"network_mode"`
	DependsOn   map[string]condition `yaml:"depends_on"`
	HealthCheck struct {
		Test     []string
		Interval string
		Timeout  string
		Retries  int
	}
}

type condition struct{ Condition string }

// TestComposeFile checks what can be checked without Docker: the form, and the promises of its own comment.
func TestComposeFile(t *testing.T) {
	b, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Services map[string]composeService }
	if err := yaml.UnmarshalWithOptions(b, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^[a-z/-]+:\d+(\.\d+)+[a-z-]*$`)
	for _, want := range []string{"oracle", "postgres", "namenode", "datanode", "folders", "hive"} {
		s, ok := file.Services[want]
		if !ok {
			t.Errorf("service %s is missing", want)
			continue
		}
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q has no pinned version", want, s.Image)
		}
		if len(s.HealthCheck.Test) == 0 && want != "folders" {
			t.Errorf("%s: no health check", want)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: port %s is not on the loopback interface", want, p)
			}
		}
		for name, c := range s.DependsOn {
			of, ok := file.Services[name]
			if !ok || c.Condition == "service_healthy" && of.HealthCheck.Test == nil {
				t.Errorf("%s: waits for the health of %s, which has none", want, name)
			}
		}
		for name, value := range s.Environment {
			if strings.Contains(name, "PASSWORD") && !strings.HasPrefix(value, "${") {
				t.Errorf("%s: %s is written out", want, name)
			}
		}
	}
	if hdfs := "apache/hadoop:" + pomVersion(t, "hdfs", "hadoop.version"); file.Services["namenode"].Image != hdfs {
		t.Errorf("namenode: image %s, but the rig runs %s", file.Services["namenode"].Image, hdfs)
	}
	if hive := "apache/hive:" + pomVersion(t, "hive", "hive.version"); file.Services["hive"].Image != hive {
		t.Errorf("hive: image %s, but the rig runs %s", file.Services["hive"].Image, hive)
	}
}

func pomVersion(t *testing.T, pom, property string) string {
	t.Helper()
	b, err := maven.ReadFile("maven/" + pom + ".xml")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`<` + regexp.QuoteMeta(property) + `>(.+?)<`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("%s.xml has no %s", pom, property)
	}
	return string(m[1])
}

// TestComposeSettingsAreTheRigs keeps the two hive-site.xml from drifting apart, but for what is of the place.
func TestComposeSettingsAreTheRigs(t *testing.T) {
	ofPlace := []string{
		"javax.jdo.option.ConnectionURL", "hive.server2.authentication",
		// the rig keeps these in tez-site.xml, yarn-site.xml
		"tez.runtime.optimize.local.fetch", "tez.ignore.lib.uris",
		"yarn.resourcemanager.connect.max-wait.ms", "yarn.resourcemanager.connect.retry-interval.ms",
	}
	rig := properties(t, "conf/hive-site.xml")
	for name, value := range properties(t, "compose/hive-site.xml") {
		if !slices.Contains(ofPlace, name) && rig[name] != value {
			t.Errorf("%s: compose has %q, the rig %q", name, value, rig[name])
		}
	}
}

func properties(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	var site struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(b, &site); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	m := map[string]string{}
	for _, p := range site.Property {
		m[p.Name] = p.Value
	}
	return m
}
