package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// An HDFSCluster is a NameNode with one DataNode, with simple authentication.
type HDFSCluster struct {
	NameNode  string // host:port of its RPC
	WebHDFS   string // its URL, without /webhdfs/v1
	User      string // whom the product works as
	Superuser string
}

func (s *Stack) nameNodeDaemon() daemon {
	return daemon{
		name: nameNode, part: HDFS, stop: syscall.SIGTERM,
		start: s.startNameNode,
		probe: s.probeNameNode,
		limit: 3 * time.Second,
	}
}

func (s *Stack) dataNodeDaemon() daemon {
	return daemon{
		name: dataNode, part: HDFS, stop: syscall.SIGTERM,
		start: s.startDataNode,
		probe: s.probeDataNode,
		limit: 3 * time.Second,
		after: s.makeFolders,
	}
}

// startNameNode formats its folder when there is none.
func (s *Stack) startNameNode(ctx context.Context) (process, error) {
	const class = "org.apache.hadoop.hdfs.server.namenode.NameNode"
	if _, err := os.Stat(s.dir("data/namenode/current/VERSION")); err != nil {
		format, err := s.hdfsCommand(ctx, class, "-format", "-force", "-nonInteractive")
		if err != nil {
			return process{}, err
		}
		if err := run(ctx, format, s.Log("format")); err != nil {
			return process{}, err
		}
	}
	c, err := s.hdfsCommand(ctx, class)
	if err != nil {
		return process{}, err
	}
	return launch(c, s.Log(nameNode))
}

func (s *Stack) startDataNode(ctx context.Context) (process, error) {
	if err := os.MkdirAll(s.dir("data/datanode"), 0o700); err != nil {
		return process{}, fmt.Errorf("make folder: %w", err)
	}
	c, err := s.hdfsCommand(ctx, "org.apache.hadoop.hdfs.server.datanode.DataNode")
	if err != nil {
		return process{}, err
	}
	return launch(c, s.Log(dataNode))
}

func (s *Stack) hdfsCommand(ctx context.Context, class string, args ...string) (command, error) {
	jars, err := s.jars.jars(ctx, "hdfs")
	if err != nil {
		return command{}, err
	}
	flags := append(smallJVM(), "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir="+s.dir("tmp"), "-cp", s.dir("conf")+":"+jars+"/*", class)
	return command{path: s.tools.java, args: append(flags, args...), env: daemonEnv("HADOOP_USER_NAME=hdfs"), dir: s.dir("tmp")}, nil
}

func (s *Stack) probeNameNode(ctx context.Context) error {
	c, err := s.hdfsClient(ctx, "hdfs")
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Stat("/")
	return err
}

// probeDataNode writes, reads and removes a small file, which only a live DataNode and a NameNode out of safe mode allow.
func (s *Stack) probeDataNode(ctx context.Context) error {
	c, err := s.hdfsClient(ctx, "hdfs")
	if err != nil {
		return err
	}
	defer c.Close()
	path := "/.rig-probe-" + strconv.Itoa(os.Getpid())
	if err := c.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer c.Remove(path)
	want := []byte(time.Now().String())
	w, err := c.Create(path)
	if err != nil {
		return err
	}
	_, err = w.Write(want)
	if err := errors.Join(err, closeFile(ctx, w)); err != nil {
		return fmt.Errorf("write probe: %w", err)
	}
	r, err := c.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read probe: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("read probe: got %q, want %q", got, want)
	}
	return nil
}

// closeFile closes again while the last block is still being replicated, as HDFS' own client does. Any other error is
// final: the library repeats it for ever.
func closeFile(ctx context.Context, w *hdfs.FileWriter) error {
	var final error
	err := poll(ctx, 20*time.Millisecond, func() error {
		err := w.Close()
		if hdfs.IsErrReplicating(err) {
			return err
		}
		final = err
		return nil
	})
	return errors.Join(err, final)
}

// makeFolders makes the folders that Hive and the product expect.
func (s *Stack) makeFolders(ctx context.Context) error {
	c, err := s.hdfsClient(ctx, "hdfs")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, f := range []struct {
		path         string
		mode         fs.FileMode
		owner, group string
	}{
		{"/tmp", 0o777 | fs.ModeSticky, "hdfs", "supergroup"},
		{"/tmp/hive", 0o777, "hive", "hive"},
		{"/tmp/hive-install", 0o777, "hive", "hive"},
		{"/tmp/tez-staging", 0o777, "hive", "hive"},
		{"/warehouse", 0o755, "hive", "hive"},
		{"/warehouse/managed", 0o755, "hive", "hive"},
		{"/warehouse/external", 0o777 | fs.ModeSticky, "hive", "hive"},
		{"/user", 0o755, "hdfs", "supergroup"},
		{"/user/hive", 0o755, "hive", "hive"},
		{"/user/loadctl", 0o755, "loadctl", "loadctl"},
		{"/stage", 0o777 | fs.ModeSticky, "loadctl", "hive"},
	} {
		if _, err := c.Stat(f.path); err == nil {
			continue
		}
		err := errors.Join(c.Mkdir(f.path, f.mode), c.Chmod(f.path, f.mode), c.Chown(f.path, f.owner, f.group))
		if err != nil {
			return fmt.Errorf("make %s: %w", f.path, err)
		}
	}
	return nil
}

// hdfsClient opens a client whose connections end with ctx: the library itself knows no deadline.
func (s *Stack) hdfsClient(ctx context.Context, user string) (*hdfs.Client, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(warmPatience)
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{Deadline: deadline}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return conn, conn.SetDeadline(deadline)
	}
	return hdfs.NewClient(hdfs.ClientOptions{
		Addresses: []string{local(s.state.Ports.NameNode)}, User: user,
		NamenodeDialFunc: dial, DatanodeDialFunc: dial,
	})
}

// smallJVM keeps an HDFS daemon near 200 MB: it never gets hot enough for the second compiler.
func smallJVM() []string {
	return append([]string{"-Xmx128m", "-Xss512k", "-XX:-UsePerfData", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:MaxMetaspaceSize=128m",
		"-XX:ReservedCodeCacheSize=64m", "-XX:MaxDirectMemorySize=64m"}, opens()...)
}

// opens lets Hadoop 3 and Hive 4.0, written for older JDKs, reach into JDK 17.
func opens() []string {
	var flags []string
	for _, p := range []string{
		"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.time", "java.util",
		"java.util.concurrent", "java.util.concurrent.atomic", "java.util.regex", "java.security", "java.math", "java.text",
		"sun.nio.ch", "sun.nio.cs", "sun.net.dns", "sun.security.action", "sun.util.calendar", "jdk.internal.ref",
	} {
		flags = append(flags, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	return append(flags, "--add-opens=java.sql/java.sql=ALL-UNNAMED",
		"--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED", "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED")
}

// webFolders are asked for by the daemons, whose jars lack the web pages; empty ones will do.
func (s *Stack) webFolders() []string {
	var dirs []string
	for _, name := range []string{"hdfs", "datanode", "static"} {
		dirs = append(dirs, filepath.Join(s.dir("conf"), "webapps", name))
	}
	return dirs
}
