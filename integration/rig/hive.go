package rig

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// A HiveServer is a HiveServer2 with its metastore. Clients speak SASL PLAIN over TCP.
type HiveServer struct {
	Host         string
	Port         int
	Instance     string // its own address, host:port: no balancer stands before it
	Web          string // URL of its web pages and JSON API
	Auth         Auth
	User         string
	Password     string
	PasswordFile string
}

func (s *Stack) metastoreDaemon() daemon {
	return daemon{
		name: metastore, part: Hive, stop: syscall.SIGTERM,
		start: func(ctx context.Context) (process, error) {
			return s.startHive(ctx, metastore, "384m", "org.apache.hadoop.hive.metastore.HiveMetaStore",
				"-p", strconv.Itoa(s.state.Ports.Metastore))
		},
		probe: func(ctx context.Context) error { return s.probePort(ctx, s.state.Ports.Metastore) },
		limit: 3 * time.Second,
	}
}

func (s *Stack) hiveServer2Daemon() daemon {
	return daemon{
		name: hiveServer2, part: Hive, stop: syscall.SIGTERM,
		start: func(ctx context.Context) (process, error) {
			return s.startHive(ctx, hiveServer2, "1g", "org.apache.hive.service.server.HiveServer2")
		},
		probe: s.probeHiveServer2,
		limit: 30 * time.Second,
	}
}

func (s *Stack) startHive(ctx context.Context, name, heap, class string, args ...string) (process, error) {
	if err := s.loadSchema(ctx); err != nil {
		return process{}, err
	}
	c, err := s.hiveCommand(ctx, heap, class, args...)
	if err != nil {
		return process{}, err
	}
	return launch(c, s.Log(name))
}

// hiveCommand's heap is a bound, not a need: HiveServer2 stays near 700 MB in all.
func (s *Stack) hiveCommand(ctx context.Context, heap, class string, args ...string) (command, error) {
	jars, err := s.jars.jars(ctx, "hive")
	if err != nil {
		return command{}, err
	}
	auth, err := s.jars.authClasses(ctx, jars)
	if err != nil {
		return command{}, err
	}
	flags := append([]string{"-Xmx" + heap, "-Xss1m", "-XX:-UsePerfData", "-XX:+UseSerialGC", "-XX:MaxMetaspaceSize=512m", "-XX:ReservedCodeCacheSize=160m"}, opens()...)
	flags = append(flags,
		"-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir="+s.dir("tmp"), "-Duser.timezone="+s.opt.TimeZone,
		"-Dlog4j2.configurationFile="+s.dir("conf/log4j2.properties"), "-Drig.users="+s.usersFile(),
		"-cp", s.dir("conf")+":"+auth+":"+jars+"/*", class)
	return command{
		path: s.tools.java, args: append(flags, args...), dir: s.dir("tmp"),
		env: daemonEnv("HADOOP_USER_NAME=hive", "HIVE_CONF_DIR="+s.dir("conf"), "HADOOP_CONF_DIR="+s.dir("conf"), "HIVE_HOME="+s.dir("tmp")),
	}, nil
}

// loadSchema makes the metastore's database, once. It gets its name when it is whole.
func (s *Stack) loadSchema(ctx context.Context) error {
	admin, err := s.connect(ctx, "postgres", "postgres")
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	var there bool
	err = admin.QueryRow(ctx, "select exists (select from pg_database where datname = 'metastore')").Scan(&there)
	if err != nil || there {
		return err
	}
	schema, err := s.jars.schema(ctx)
	if err != nil {
		return err
	}
	for _, sql := range []string{
		"drop database if exists metastore_new",
		"drop role if exists hive",
		"create role hive login password '" + s.state.PostgresPassword + "'", // letters and digits only
		"create database metastore_new owner hive",
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("make the metastore's database: %w", err)
		}
	}
	if err := s.fillSchema(ctx, schema); err != nil {
		return fmt.Errorf("load the metastore's schema: %w", err)
	}
	_, err = admin.Exec(ctx, "alter database metastore_new rename to metastore")
	return err
}

// fillSchema runs the whole script as one message, hence as one transaction.
func (s *Stack) fillSchema(ctx context.Context, schema []byte) error {
	conn, err := s.connect(ctx, "hive", "metastore_new")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, string(schema), pgx.QueryExecModeSimpleProtocol)
	return err
}

// probePort connects.
func (s *Stack) probePort(ctx context.Context, port int) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", local(port))
	if err != nil {
		return err
	}
	return conn.Close()
}
