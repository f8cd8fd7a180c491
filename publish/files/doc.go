// Package files is a warehouse that is a directory, laid out like Hive's:
//
//	<root>/<database>.db/<table>/_schema.json
//	<root>/<database>.db/<table>/load_date=2026-09-28/part-00000-00000.parquet
//
// DuckDB, Spark and Trino read it as it stands. A publish copies the sealed files into a new directory, syncs
// it, and puts it in the place of the partition's in one step: on Linux by renameat2(RENAME_EXCHANGE), so that a
// reader that lists the partition sees the old files or the new ones, never none and never both. Where the system
// or the file system has no such call, two renames do it, and between them the partition is missing for a moment.
//
// What is on its way lies in <root>/.loadctl-tmp/<session>: whoever renames that directory has fenced the
// publisher, because its last step begins there.
package files
