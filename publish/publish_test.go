package publish_test

import (
	"context"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/publish"
)

func TestStagingTable(t *testing.T) {
	const run = "0199d5b2-7c1e-7abc-8def-0123456789ab"
	if got, want := publish.StagingTable("insp_dtl", run), "insp_dtl__stg_0199d5b27c1e7abc8def0123456789ab"; got != want {
		t.Errorf("StagingTable = %s, want %s", got, want)
	}
	long := publish.StagingTable(strings.Repeat("가", 200), run)
	if n := len([]rune(long)); n != 128 || !strings.HasSuffix(long, "__stg_0199d5b27c1e7abc8def0123456789ab") {
		t.Errorf("a long name has %d characters: %s", n, long)
	}
}

func TestTagTravelsWithTheContext(t *testing.T) {
	ctx := publish.WithTag(context.Background(), "loadctl-1-1")
	if got := publish.Tag(ctx); got != "loadctl-1-1" {
		t.Errorf("Tag = %q", got)
	}
	if got := publish.Tag(context.Background()); got != "" {
		t.Errorf("Tag of a context without = %q", got)
	}
}
