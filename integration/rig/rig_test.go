package rig_test

import (
	"io"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/integration/rig"
)

func TestWarmStackIsReused(t *testing.T) {
	first := rig.Shared(t)
	begin := time.Now()
	again := rig.Shared(t)
	t.Logf("warm: %s", time.Since(begin))
	if first.Hive.Port != again.Hive.Port || first.HDFS != again.HDFS || first.Postgres != again.Postgres {
		t.Fatalf("the second call got another stack:\n%+v\n%+v", first, again)
	}
	client, err := hdfs.NewClient(hdfs.ClientOptions{Addresses: []string{first.HDFS.NameNode}, User: first.HDFS.User})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = io.EOF
}
