// Package hive publishes to external Parquet tables of Apache Hive through HiveServer2.
//
// query.go holds every HiveQL text, describe.go what is read of the metastore's answers, measure.go the
// expressions that staging and target are compared by, session.go the one statement that changes a target.
//
// Hive matches the columns of INSERT OVERWRITE by position and takes no list of names, so the select list is
// written in the order that the target has at that moment, by name, from a DESCRIBE in the same session right before. An
// ALTER TABLE between the two would be caught by the validation of the target.
package hive
