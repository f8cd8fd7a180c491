package scenario

import (
	"fmt"
	"os"
	"strings"
)

// Target is the name of the target table: in a database of its own where the warehouse is shared.
func (w *World) Target() string {
	if w.Stack != nil {
		return w.Name + ".insp_dtl"
	}
	return "lake.insp_dtl"
}

// writeConfig writes the daemon file and the job.
func (w *World) writeConfig() error {
	w.Config = w.path("loadd.yaml")
	if err := os.WriteFile(w.Config, []byte(w.daemon()), 0o644); err != nil {
		return err
	}
	return w.WriteJob(Job, w.JobText(Job, w.Target()))
}

// JobText is the scenario's job under a name, for a target.
func (w *World) JobText(name, target string) string {
	return fmt.Sprintf(`job: %s
source:
  name: core
  table: app.insp_dtl
  where: INSP_DT >= :date AND INSP_DT < :date + 1
split:
  strategy: range
  column: SEQ
  partitions: 8
target:
  table: %s
  partition:
    load_date: "{date}"
`, name, target)
}

// WriteJob adds or replaces a job file.
func (w *World) WriteJob(name, yaml string) error {
	return os.WriteFile(w.path("jobs", strings.ToLower(name)+".yaml"), []byte(yaml), 0o644)
}

// daemon is the daemon file. Recovery is quick, so that tests see it.
func (w *World) daemon() string {
	host, port := w.oracleAddress()
	c := w.Ledger.Cluster
	return fmt.Sprintf(`ledger:
  host: 127.0.0.1
  port: %d
  database: %s
  user: loadctl_run
  password: ${file:%[3]s}
  sslmode: disable
  migrate:
    user: loadctl_owner
    password: ${file:%[3]s}
sources:
  core:
    host: %[4]s
    port: %[5]d
    service: %[9]s
    user: %[6]s
    password: ${file:%[7]s}
    max_sessions: 6
%[8]srecovery:
  heartbeat: 500ms
  stale: 10s
  step_renew: 500ms
  step_lease: 10s
  publish_stale: 20s
  poll: 500ms
log:
  level: warn
`, c.Port, w.Ledger.Name, w.path("secret", "ledger"), host, port, Reader, w.path("secret", "oracle"), w.parts(), Service)
}

// parts is the store and the warehouse.
func (w *World) parts() string {
	if w.Stack == nil {
		return fmt.Sprintf("store:\n  local:\n    root: %s\nwarehouse:\n  files:\n    root: %s\n", w.path("store"), w.path("warehouse"))
	}
	h := w.Stack.Hive
	return fmt.Sprintf(`store:
  hdfs:
    namenodes: [%s]
    user: %s
    root: /stage/%s
warehouse:
  hive:
    name: %s
    host: %s
    port: %d
    auth: %s
    user: %s
    password: ${file:%s}
    staging_database: %s
`, w.Stack.HDFS.NameNode, w.Stack.HDFS.User, w.Name, w.Name, h.Host, h.Port, h.Auth, h.User, h.PasswordFile, w.Name)
}
