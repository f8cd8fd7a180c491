// Package parquet is the format of staged files: Parquet in the one profile that Hive 3 and 4, Impala, Spark,
// Trino, DuckDB and Arrow all read alike.
//
// The profile:
//
//   - every column is optional and top-level, in the order given, under the name given;
//   - decimals are FIXED_LEN_BYTE_ARRAY of the least length for their precision, timestamps are INT96 holding
//     wall clock, text is a BYTE_ARRAY annotated UTF8, binary one without annotation, floats are FLOAT and DOUBLE;
//   - data pages are version 1, PLAIN, or a dictionary for text until that has grown too large; snappy;
//   - the footer says writer.time.zone=UTC and writer.date.proleptic=true, so that Hive neither shifts
//     timestamps by a zone nor DATEs by a calendar, and created_by does not begin with "parquet-mr", which Hive
//     takes for its own, zone-shifted, files;
//   - timestamps before 1582-10-15 are in the calendar that the file's reader goes by (see Calendar), and the footer
//     says which;
//   - no type_length except on FIXED_LEN_BYTE_ARRAY: Hive's row reader (a plain SELECT *) fails on it;
//   - no page index, and no minimum and maximum anywhere: parquet-go orders the bytes of decimals without their
//     sign, and a reader that trusts such bounds drops rows. Counts of NULLs are kept.
//
// The last two and the footer are set in footer.go, by writing it again; all else is parquet-go's.
package parquet
