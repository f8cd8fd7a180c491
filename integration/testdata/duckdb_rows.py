"""Prints the rows of a directory's Parquet files as JSON: lists of text, NULLs as the second argument."""
import glob
import json
import sys

import duckdb

directory, null = sys.argv[1:3]
files = sorted(glob.glob(glob.escape(directory) + "/*.parquet"))
rows = []
if files:
    con = duckdb.connect()
    relation = con.execute(
        "SELECT COLUMNS(*)::VARCHAR FROM read_parquet(?, hive_partitioning = false)", [files]
    )
    rows = [[null if v is None else v for v in row] for row in relation.fetchall()]
json.dump(rows, sys.stdout)
