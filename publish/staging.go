package publish

import (
	"strings"
)

// maxTableName is Hive's limit: longer names do not fit the metastore's column.
const maxTableName = 128

// StagingTable names the staging table of a run: the target table's name, cut where it is too long, and the run's
// id without its dashes, so that no two runs share one and a leftover tells whose it is.
func StagingTable(table, run string) string {
	suffix := "__stg_" + strings.ReplaceAll(run, "-", "")
	r := []rune(table)
	if room := max(maxTableName-len(suffix), 0); len(r) > room {
		r = r[:room]
	}
	return string(r) + suffix
}
