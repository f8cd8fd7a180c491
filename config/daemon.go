package config

import "time"

// Daemon is the daemon file, loadd.yaml: what loadd and loadctl share on a host.
type Daemon struct {
	// Where runs, partitions and chunks are recorded.
	Ledger Ledger `yaml:"ledger" required:"true"`
	// Oracle databases to read from, by the name that jobs use.
	Sources map[string]Source `yaml:"sources" required:"true"`
	// Where chunks are written: exactly one of local and hdfs.
	Store Store `yaml:"store" required:"true"`
	// Where tables are published: exactly one of files and hive.
	Warehouse Warehouse `yaml:"warehouse" required:"true"`
	// What one process may use.
	Limits Limits `yaml:"limits"`
	// What a job gets where its own file is silent.
	Defaults Defaults `yaml:"defaults"`
	// How long silence lasts before work counts as lost.
	Recovery Recovery `yaml:"recovery"`
	// How long staged files are kept.
	Retention Retention `yaml:"retention"`
	// The HTTP server of loadd.
	HTTP HTTP `yaml:"http"`
	// What is logged.
	Log Log `yaml:"log"`
	// Pattern of the job files, relative to the directory of this file.
	Jobs string `yaml:"jobs" default:"jobs/*.yaml"`
}

// Ledger is the connection to PostgreSQL 14 or newer.
type Ledger struct {
	// Host name, address, or the directory of a Unix socket.
	Host string `yaml:"host" required:"true"`
	// TCP port.
	Port int `yaml:"port" default:"5432" min:"1" max:"65535"`
	// Database name.
	Database string `yaml:"database" default:"loadctl"`
	// Role of the running programs; it needs no DDL and no DELETE.
	User string `yaml:"user" default:"loadctl"`
	// Password of user, by reference; absent where the server asks for none.
	Password Secret `yaml:"password"`
	// How the connection is encrypted, in the words of libpq.
	SSLMode SSLMode `yaml:"sslmode" default:"prefer"`
	// File with the certificates that may sign the server's, for verify-ca and verify-full.
	SSLRootCert string `yaml:"sslrootcert"`
	// Most connections of one process.
	MaxConnections int `yaml:"max_connections" default:"8" min:"2" max:"200"`
	// How long to wait for a connection.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"10s" min:"1s" max:"5m"`
	// The role that owns the schema, for loadctl migrate alone.
	Migrate MigrateRole `yaml:"migrate"`
}

// MigrateRole is the login of `loadctl migrate`.
type MigrateRole struct {
	// Role that owns the schema; absent, migrate uses ledger.user.
	User string `yaml:"user"`
	// Its password, by reference.
	Password Secret `yaml:"password"`
}

// Source is an Oracle database.
type Source struct {
	// Host of the listener.
	Host string `yaml:"host" required:"true"`
	// Port of the listener.
	Port int `yaml:"port" default:"1521" min:"1" max:"65535"`
	// Service name, in any case.
	Service string `yaml:"service" required:"true"`
	// Login; upper-cased unless in double quotes, as Oracle does.
	User Identifier `yaml:"user" required:"true"`
	// Password of user, by reference.
	Password Secret `yaml:"password" required:"true"`
	// Most sessions of all processes together on this database, planning included.
	MaxSessions int `yaml:"max_sessions" default:"8" min:"1" max:"1000"`
	// How long to wait for a connection and the login.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"15s" min:"1s" max:"10m"`
	// How large one reply may become; each session holds one in memory.
	FetchBytes Size `yaml:"fetch_bytes" default:"4MiB" min:"64KiB" max:"256MiB"`
	// How rows are read: thin (our own client), driver (go-ora), or auto: thin, and driver for what thin does not do.
	Reader Reader `yaml:"reader" default:"auto"`
	// ALTER SESSION statements for each new session.
	SessionInit []SessionStatement `yaml:"session_init"`
}

// Store is where chunks are written. Exactly one field is set.
type Store struct {
	// A directory of this host (or one that all hosts mount).
	Local *LocalStore `yaml:"local"`
	// HDFS.
	HDFS *HDFSStore `yaml:"hdfs"`
}

// LocalStore keeps chunks in a directory.
type LocalStore struct {
	// Absolute directory; made when missing.
	Root string `yaml:"root" required:"true"`
	// Permissions of files, in octal; directories get the matching search bits.
	Mode FileMode `yaml:"mode" default:"0640"`
}

// HDFSStore keeps chunks in HDFS.
type HDFSStore struct {
	// NameNodes as host:port; two or more for a highly available pair.
	Namenodes []string `yaml:"namenodes" required:"true"`
	// Name of the nameservice in paths that Hive reads; absent, the first NameNode.
	Nameservice string `yaml:"nameservice"`
	// User to act as.
	User string `yaml:"user" required:"true"`
	// Directory, as a path or an hdfs:// URI of this nameservice.
	Root string `yaml:"root" required:"true"`
	// Owner of what is written; absent, user. Another one needs HDFS superuser rights.
	Owner string `yaml:"owner"`
	// Group of what is written; absent, that of the parent directory.
	Group string `yaml:"group"`
	// Permissions of files, in octal; directories get the matching search bits.
	Mode FileMode `yaml:"mode" default:"0640"`
	// How long to wait for a connection.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"10s" min:"1s" max:"5m"`
	// Longest silence within a call before the connection counts as lost.
	CallTimeout time.Duration `yaml:"call_timeout" default:"60s" min:"1s" max:"1h"`
}

// Warehouse is where tables are published. Exactly one field is set.
type Warehouse struct {
	// Directories laid out like Hive's.
	Files *FilesWarehouse `yaml:"files"`
	// Hive through HiveServer2.
	Hive *HiveWarehouse `yaml:"hive"`
}

// FilesWarehouse publishes into directories.
type FilesWarehouse struct {
	// Absolute directory; made when missing.
	Root string `yaml:"root" required:"true"`
}

// HiveWarehouse publishes through HiveServer2.
type HiveWarehouse struct {
	// Name of the metastore in target ids. Every process on one ledger must use the same name for the same metastore.
	Name string `yaml:"name" default:"hive"`
	// Host of HiveServer2 itself, not of a balancer.
	Host string `yaml:"host" required:"true"`
	// Port of its binary Thrift transport.
	Port int `yaml:"port" default:"10000" min:"1" max:"65535"`
	// What hive.server2.authentication says on the server.
	Auth HiveAuth `yaml:"auth" default:"NONE"`
	// What hive.server2.transport.mode says on the server.
	Transport HiveTransport `yaml:"transport" default:"binary"`
	// User to act as.
	User string `yaml:"user" required:"true"`
	// Password of user, by reference; for LDAP and CUSTOM.
	Password Secret `yaml:"password"`
	// Database that holds the staging tables.
	StagingDatabase string `yaml:"staging_database" default:"default"`
	// Hive settings for each session, as for SET.
	Settings map[string]string `yaml:"settings"`
	// Sessions kept for ordinary statements; a publish has one of its own.
	Sessions int `yaml:"sessions" default:"4" min:"1" max:"64"`
	// How long to wait for a connection and the login.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"15s" min:"1s" max:"10m"`
	// Longest time of one answer; a statement that runs is asked about again and again.
	CallTimeout time.Duration `yaml:"call_timeout" default:"60s" min:"10s" max:"1h"`
	// Longest time until a statement is compiled and under way.
	CompileTimeout time.Duration `yaml:"compile_timeout" default:"10m" min:"10s" max:"24h"`
}

// Limits bounds one process.
type Limits struct {
	// Extract workers of one process, over all its runs.
	Workers int `yaml:"workers" default:"4" min:"1" max:"256"`
	// Memory for batches and files being written.
	Memory Size `yaml:"memory" default:"1GiB" min:"64MiB" max:"1TiB"`
}

// Defaults is what jobs get where their own file is silent.
type Defaults struct {
	// Time zone in which dates begin, by its IANA name.
	Timezone Zone `yaml:"timezone" default:"UTC"`
	// How chunks are cut.
	Chunk Chunk `yaml:"chunk"`
	// How partitions are read.
	Extract Extract `yaml:"extract"`
	// Longest life of a run.
	RunTimeout time.Duration `yaml:"run_timeout" default:"12h" min:"1m" max:"30d"`
}

// Recovery says how long silence lasts before work counts as lost. Only the database's clock decides.
type Recovery struct {
	// How often a worker says that it is alive.
	Heartbeat time.Duration `yaml:"heartbeat" default:"15s" min:"100ms" max:"10m"`
	// Silence after which a partition goes to another worker; at least 4 heartbeats.
	Stale time.Duration `yaml:"stale" default:"60s" min:"400ms" max:"1h"`
	// How long a step is owned without renewal; at least 3 renewals.
	StepLease time.Duration `yaml:"step_lease" default:"60s" min:"300ms" max:"1h"`
	// How often the owner of a step renews.
	StepRenew time.Duration `yaml:"step_renew" default:"15s" min:"100ms" max:"10m"`
	// Silence of a publisher after which its run is looked at.
	PublishStale time.Duration `yaml:"publish_stale" default:"2m" min:"1s" max:"1h"`
	// Pause between two looks at a target whose publish is in doubt.
	PublishSettle time.Duration `yaml:"publish_settle" default:"30s" min:"1s" max:"1h"`
	// What becomes of a partition whose worker is lost: REISSUE reads it again at the same SCN, FAIL fails the run.
	Mode RecoveryMode `yaml:"mode" default:"REISSUE"`
	// What ends a publish of unknown outcome: ask waits for loadctl resolve; prove lets proof alone decide.
	PublishUnknown PublishUnknown `yaml:"publish_unknown" default:"ask"`
	// How often the ledger is asked for work when no notice came.
	Poll time.Duration `yaml:"poll" default:"2s" min:"50ms" max:"1m"`
	// How long work in hand may go on after a stop was asked for.
	Grace time.Duration `yaml:"grace" default:"30s" min:"1s" max:"1h"`
}

// Retention says how long staged files are kept after their run's end. loadd and loadctl clean delete them.
type Retention struct {
	// After success.
	Success time.Duration `yaml:"success" default:"3d" min:"0s" max:"365d"`
	// After any other end, for inspection.
	Failed time.Duration `yaml:"failed" default:"14d" min:"0s" max:"365d"`
}

// HTTP is the server of loadd.
type HTTP struct {
	// Address and port to listen on.
	Listen string `yaml:"listen" default:"127.0.0.1:8484"`
}

// Log says what is logged.
type Log struct {
	// Least level that is written.
	Level LogLevel `yaml:"level" default:"info"`
	// Form of a line.
	Format LogFormat `yaml:"format" default:"text"`
}
