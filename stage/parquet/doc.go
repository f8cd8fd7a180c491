// Package parquet is the format of staged files: Parquet in the one profile that Hive 3 and 4, Impala, Spark,
// Trino, DuckDB and Arrow all read alike.
//
// The profile:
//
//   - every column is optional and top-level, in the order given, under the name given;
//   - decimals are FIXED_LEN_BYTE_ARRAY of the least length for their precision, timestamps are INT96 holding
//     wall clock (or, asked for, INT64 of microseconds), text is a BYTE_ARRAY annotated UTF8, binary one without
//     annotation, floats are FLOAT and DOUBLE;
//   - data pages are version 1 with a checksum, PLAIN, or for text a dictionary where that is smaller and until it has
//     grown too large; PLAIN_DICTIONARY by name, as parquet-mr calls it there; snappy (or, asked for, zstd);
//   - the footer says writer.time.zone=UTC and writer.date.proleptic=true, so that Hive neither shifts
//     timestamps by a zone nor DATEs by a calendar, and created_by does not begin with "parquet-mr", which Hive
//     takes for its own, zone-shifted, files;
//   - timestamps before 1582-10-15 are in the calendar that the file's reader goes by (see Calendar), and the footer
//     says which;
//   - no type_length except on FIXED_LEN_BYTE_ARRAY: Hive's row reader (a plain SELECT *) fails on it;
//   - every column has its count of NULLs. Decimals and INT64 timestamps have their exact minimum and maximum, in
//     min_value and max_value alone: their order is defined there, where the old fields had the bytes' order without
//     sign. INT96 has none, because it has no order; text has none, because Hive compares CHAR without its blanks;
//     floats have none, because readers disagree where NaN and -0 belong. A reader that trusts such a bound drops rows.
//   - no page index.
//
// Writer is our own, on parquet-go's packages for the footer's structures; Reader is parquet-go's. Tests read what is
// written by parquet-go, Arrow, DuckDB and Hive, and compare it with a file that parquet-go has written.
package parquet
