package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Config is everything that a process was told. It is not changed after Load.
type Config struct {
	Daemon   Daemon
	Jobs     map[string]Job // by name
	Warnings Faults         // what is odd but accepted

	sources map[string]*document // the file of each job, and of the daemon at ""
}

// Load reads a daemon file, the job files that its jobs pattern matches, and the job files named beside it. The
// error is Faults, all of them, when anything is wrong in any file. Secrets are not read: see CheckSecrets.
func Load(daemon string, jobs ...string) (*Config, error) {
	c := &Config{Jobs: map[string]Job{}, sources: map[string]*document{}}
	doc := newDocument(daemon, &c.Daemon)
	setDefaults(reflect.ValueOf(&c.Daemon).Elem())
	if !doc.read() {
		return nil, doc.faults.orNil()
	}
	c.sources[""] = doc
	checkDaemon(doc, &c.Daemon)
	faults := append(doc.faults, c.loadJobs(doc, jobs)...)
	faults.sort()
	c.Warnings.sort()
	if err := faults.orNil(); err != nil {
		return nil, err
	}
	return c, nil
}

// LoadJob reads one job file, with the defaults and sources of d; with a nil d, those of this package and any
// source name.
func LoadJob(file string, d *Daemon) (Job, error) {
	job, doc := readJob(file, d)
	doc.faults.sort()
	return job, doc.faults.orNil()
}

func readJob(file string, d *Daemon) (Job, *document) {
	var job Job
	doc := newDocument(file, &job)
	setDefaults(reflect.ValueOf(&job).Elem())
	defaults := Defaults{}
	if d != nil {
		defaults = d.Defaults
	} else {
		setDefaults(reflect.ValueOf(&defaults).Elem())
	}
	job.Timezone, job.RunTimeout = defaults.Timezone, defaults.RunTimeout
	job.Chunk, job.Extract = defaults.Chunk, defaults.Extract
	if doc.read() {
		checkJob(doc, &job, d)
	}
	return job, doc
}

// loadJobs reads every job file and compares the jobs with each other.
func (c *Config) loadJobs(doc *document, named []string) Faults {
	files, faults := jobFiles(doc, c.Daemon.Jobs, named)
	if len(files) == 0 && faults == nil {
		p := doc.place("jobs")
		c.Warnings = append(c.Warnings, Fault{doc.file, p.line, p.column, "jobs", "no file matches " + c.Daemon.Jobs, ""})
	}
	var known []loaded
	for _, file := range files {
		job, jobDoc := readJob(file, &c.Daemon)
		one := loaded{job, jobDoc}
		for _, other := range known {
			one.compare(other)
		}
		known = append(known, one)
		faults = append(faults, jobDoc.faults...)
		c.Jobs[string(job.Name)] = job
		c.sources[string(job.Name)] = jobDoc
		c.Warnings = append(c.Warnings, jobWarnings(jobDoc, &job)...)
	}
	return faults
}

// jobFiles are the files of the pattern and those named, each once, in order.
func jobFiles(doc *document, pattern string, named []string) ([]string, Faults) {
	if !doc.sound("jobs") {
		return named, nil
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(doc.file), pattern)
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		p := doc.place("jobs")
		return named, Faults{{doc.file, p.line, p.column, "jobs", "not a pattern of files", "as in jobs/*.yaml"}}
	}
	for _, n := range named {
		if !slices.ContainsFunc(files, func(f string) bool { return sameFile(f, n) }) {
			files = append(files, n)
		}
	}
	slices.Sort(files)
	return files, nil
}

func sameFile(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// JobNames are the names of all jobs in order.
func (c *Config) JobNames() []string {
	names := make([]string, 0, len(c.Jobs))
	for n := range c.Jobs {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Job finds a job by its name; the error suggests one.
func (c *Config) Job(name string) (Job, error) {
	if job, ok := c.Jobs[name]; ok {
		return job, nil
	}
	names := c.JobNames()
	r := refuse("no job %q in %s", name, c.Daemon.Jobs)
	if near := nearest(name, names); near != "" {
		return Job{}, r.hint("did you mean " + near + "?")
	}
	if len(names) == 0 {
		return Job{}, r.hint("there are no job files there")
	}
	return Job{}, r.hint("known jobs: " + strings.Join(names, ", "))
}
