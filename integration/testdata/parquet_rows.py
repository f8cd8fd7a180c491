"""Prints the rows of a directory's Parquet files as JSON: lists of text, NULLs as the third argument.

usage: parquet_rows.py duckdb|pyarrow DIRECTORY NULL
"""
import datetime
import decimal
import glob
import json
import sys


def with_duckdb(files, null):
    import duckdb

    relation = duckdb.connect().execute(
        "SELECT COLUMNS(*)::VARCHAR FROM read_parquet(?, hive_partitioning = false)", [files]
    )
    return [[null if v is None else v for v in row] for row in relation.fetchall()]


def with_pyarrow(files, null):
    import pyarrow.parquet

    rows = []
    for name in files:
        columns = pyarrow.parquet.ParquetFile(
            name, coerce_int96_timestamp_unit="us"
        ).read().to_pydict()
        rows += zip(*columns.values())
    return [[null if v is None else text(v) for v in row] for row in rows]


def text(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


reader, directory, null = sys.argv[1:4]
files = sorted(f for f in glob.glob(glob.escape(directory) + "/*") if not f.rsplit("/", 1)[1].startswith(("_", ".")))
json.dump({"duckdb": with_duckdb, "pyarrow": with_pyarrow}[reader](files, null) if files else [], sys.stdout)
