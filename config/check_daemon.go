package config

import (
	"net"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkDaemon compares settings with each other, where the settings themselves are sound.
func checkDaemon(d *document, c *Daemon) {
	checkLedger(d, &c.Ledger)
	for name := range c.Sources {
		checkSource(d, name, c.Sources[name])
	}
	if d.given("sources") && d.sound("sources") && len(c.Sources) == 0 {
		d.fault("sources", "", "names no source")
	}
	checkStore(d, &c.Store)
	checkWarehouse(d, &c.Warehouse)
	checkPair(d, c)
	checkRecovery(d, c.Recovery)
	if d.sound("http.listen") {
		if err := checkAddress(c.HTTP.Listen); err != nil {
			d.reject("http.listen", err)
		}
	}
}

func checkLedger(d *document, l *Ledger) {
	if l.SSLRootCert != "" && !filepath.IsAbs(l.SSLRootCert) {
		d.fault("ledger.sslrootcert", "", "%q is not an absolute path", l.SSLRootCert)
	}
	if l.SSLRootCert != "" && !strings.HasPrefix(string(l.SSLMode), "verify-") && d.sound("ledger.sslmode") {
		d.fault("ledger.sslrootcert", "set sslmode: verify-full", "is not looked at with sslmode %s", l.SSLMode)
	}
	if l.Migrate.User == "" && !l.Migrate.Password.IsZero() {
		d.fault("ledger.migrate.password", "add ledger.migrate.user", "a password without a user")
	}
}

func checkSource(d *document, name string, s Source) {
	at := "sources." + name
	if err := checkPlainName(name); err != nil {
		d.reject(at, err)
	}
	if d.sound(at+".service") && strings.ContainsAny(s.Service, "()= ") {
		d.fault(at+".service", "the name alone, as in lsnrctl services", "%q is no service name", s.Service)
	}
	if d.sound(at+".host") && strings.ContainsAny(s.Host, "()=/: ") && net.ParseIP(s.Host) == nil {
		d.fault(at+".host", "the port is a setting of its own", "%q is no host", s.Host)
	}
}

func checkStore(d *document, s *Store) {
	if !exactlyOne(d, "store", s.Local != nil, s.HDFS != nil, "local", "hdfs") {
		return
	}
	if s.Local != nil {
		s.Local.Root = checkDirectory(d, "store.local.root", s.Local.Root)
		return
	}
	h := s.HDFS
	for i, n := range h.Namenodes {
		if err := checkAddress(n); err != nil {
			d.reject("store.hdfs.namenodes["+strconv.Itoa(i)+"]", err)
		}
		if slices.Index(h.Namenodes, n) < i {
			d.fault("store.hdfs.namenodes["+strconv.Itoa(i)+"]", "", "%s is listed twice", n)
		}
	}
	if len(h.Namenodes) > 1 && h.Nameservice == "" {
		d.fault("store.hdfs.nameservice", "the dfs.nameservices of the cluster", "is required with more than one NameNode")
	}
	if d.sound("store.hdfs") {
		root, err := h.canonical(h.Root)
		if err != nil {
			d.reject("store.hdfs.root", err)
		}
		h.Root = root
	}
}

// Authority is the cluster's name in a URI: the nameservice, or else the only NameNode.
func (h *HDFSStore) Authority() string {
	if h.Nameservice != "" || len(h.Namenodes) == 0 {
		return h.Nameservice
	}
	return h.Namenodes[0]
}

// canonical is a directory of this cluster as a clean path, however it was written: hdfs://ns/a, hdfs:///a, /a/.
func (h *HDFSStore) canonical(dir string) (string, error) {
	p := dir
	if scheme, rest, ok := strings.Cut(dir, "://"); ok {
		authority, below, _ := strings.Cut(rest, "/")
		if !strings.EqualFold(scheme, "hdfs") {
			return "", refuse("%q is not in HDFS", dir).hint("write a path or an hdfs:// URI")
		}
		if authority != "" && !strings.EqualFold(authority, h.Nameservice) && !slices.Contains(h.Namenodes, authority) {
			return "", refuse("%q is in another cluster than %s", dir, h.Authority()).hint("write the path alone")
		}
		p = "/" + below
	}
	if !path.IsAbs(p) {
		return "", refuse("%q is not an absolute path", dir)
	}
	if p = path.Clean(p); p == "/" {
		return "", refuse("the root of the file system is no place of its own").hint("name a directory, as in /data/loadctl")
	}
	return p, nil
}

func checkDirectory(d *document, at, dir string) string {
	clean := filepath.Clean(dir)
	switch {
	case !d.sound(at) || dir == "":
	case !filepath.IsAbs(dir):
		d.fault(at, "", "%q is not an absolute path", dir)
	case clean == string(filepath.Separator):
		d.fault(at, "name a directory, as in /var/lib/loadctl/store", "the root of the file system is no place of its own")
	}
	return clean
}

func checkWarehouse(d *document, w *Warehouse) {
	if !exactlyOne(d, "warehouse", w.Files != nil, w.Hive != nil, "files", "hive") {
		return
	}
	if w.Files != nil {
		w.Files.Root = checkDirectory(d, "warehouse.files.root", w.Files.Root)
		return
	}
	h := w.Hive
	if err := checkPlainName(h.Name); err != nil {
		d.reject("warehouse.hive.name", err)
	}
	if h.StagingDatabase = strings.ToLower(h.StagingDatabase); !warehouseName.MatchString(h.StagingDatabase) {
		d.fault("warehouse.hive.staging_database", "letters, digits and _", "%q is no database", h.StagingDatabase)
	}
	checkHiveLogin(d, h)
	for name, value := range h.Settings {
		if err := checkHiveSetting(name, value); err != nil {
			d.reject("warehouse.hive.settings."+name, err)
		}
	}
}

func checkHiveLogin(d *document, h *HiveWarehouse) {
	if !d.sound("warehouse.hive.auth", "warehouse.hive.password") {
		return
	}
	needs := h.Auth == HiveLDAP || h.Auth == HiveCustom
	if needs && h.Password.IsZero() {
		d.fault("warehouse.hive.password", "", "is required with auth: %s", h.Auth)
	}
	if h.Auth == HiveNoSASL && !h.Password.IsZero() {
		d.fault("warehouse.hive.password", "leave it out, or correct auth", "is not sent with auth: NOSASL")
	}
}

// pinnedHive are settings that loadctl sets itself: its checks and its recovery stand on them.
var pinnedHive = []string{
	"hive.query.tag", "hive.compute.query.using.stats", "hive.support.quoted.identifiers",
	"hive.parquet.timestamp.skip.conversion", "hive.query.results.cache.enabled", "hive.txn.ext.locking.enabled",
	"hive.server2.thrift.resultset.serialize.in.tasks",
}

var hiveSetting = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

func checkHiveSetting(name, value string) error {
	if !hiveSetting.MatchString(name) {
		return refuse("%q is no name of a setting", name)
	}
	if slices.Contains(pinnedHive, strings.ToLower(name)) {
		return refuse("is set by loadctl itself").hint("leave it out")
	}
	if strings.ContainsAny(value, ";\n\r") {
		return refuse("a value is one line without ;")
	}
	return nil
}

// checkPair compares the store with the warehouse.
func checkPair(d *document, c *Daemon) {
	if c.Warehouse.Files == nil || !d.sound("store", "warehouse") {
		return
	}
	if c.Store.HDFS != nil {
		d.fault("warehouse.files", "use store.local, or warehouse.hive", "reads its staged files from a local store, not from HDFS")
		return
	}
	store, files := c.Store.Local.Root, c.Warehouse.Files.Root
	if within(store, files) || within(files, store) {
		d.fault("warehouse.files.root", "use two directories side by side", "%s and store.local.root %s are one inside the other", files, store)
	}
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, strings.TrimSuffix(parent, "/")+"/")
}

func checkRecovery(d *document, r Recovery) {
	atLeast := func(name string, value time.Duration, times int64, other string, unit time.Duration, why string) {
		if d.sound("recovery."+name, "recovery."+other) && value < time.Duration(times)*unit {
			d.fault("recovery."+name, why, "%s is less than %d times %s (%s)", formatDuration(value), times, other, formatDuration(unit))
		}
	}
	atLeast("stale", r.Stale, 4, "heartbeat", r.Heartbeat, "a few lost heartbeats must not look like a death")
	atLeast("step_lease", r.StepLease, 3, "step_renew", r.StepRenew, "a slow renewal must not lose the step")
	atLeast("publish_stale", r.PublishStale, 1, "step_lease", r.StepLease, "a publisher may be silent for its lease")
}

// exactlyOne reports a section of which none or both forms are there.
func exactlyOne(d *document, at string, first, second bool, firstName, secondName string) bool {
	switch {
	case !d.given(at) || d.bad[at]:
		return false
	case first && second:
		d.fault(at, "keep one", "has both %s and %s", firstName, secondName)
	case !first && !second && d.sound(at):
		d.fault(at, "", "needs %s or %s", firstName, secondName)
	}
	return first != second
}

func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	n, convErr := strconv.Atoi(port)
	if err != nil || convErr != nil || n < 0 || n > 65535 || strings.ContainsAny(host, "/ ") {
		return refuse("%q is not host:port", text)
	}
	return nil
}
