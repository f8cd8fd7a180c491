"""Prints what pyarrow or duckdb read in a Parquet file, as JSON: rows of canonical text (bytes in hex), and the footer.

usage: referee.py pyarrow|duckdb FILE

Comparisons on standard input, as a JSON list, are counted instead.
"""
import datetime
import decimal
import json
import sys

decimal.getcontext().prec = 80


def text(value):
    if value is None:
        return None
    if isinstance(value, bytes):
        return "hex:" + value.hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        out = value.isoformat(sep=" ")  # strftime does not pad years
        return out.rstrip("0").rstrip(".") if "." in out else out
    return str(value)


def bound(statistics, which):
    return text(getattr(statistics, which)) if statistics and statistics.has_min_max else None


def by_pyarrow(name):
    import pyarrow.parquet as pq

    # Without the unit, pyarrow makes nanoseconds in 64 bits, which end in 2262.
    file = pq.ParquetFile(name, coerce_int96_timestamp_unit="us", page_checksum_verification=True)
    rows = [[text(v) for v in row.values()] for row in file.read().to_pylist()]
    meta = file.metadata
    columns = []
    for i in range(meta.num_columns):
        column = {"name": meta.schema.column(i).name, "physical": meta.schema.column(i).physical_type,
                  "length": meta.schema.column(i).length, "levels": meta.schema.column(i).max_definition_level}
        if meta.num_row_groups > 0:
            chunk = meta.row_group(0).column(i)
            column.update(compression=chunk.compression, encodings=sorted(chunk.encodings),
                          min=bound(chunk.statistics, "min"), max=bound(chunk.statistics, "max"),
                          nulls=chunk.statistics.null_count if chunk.statistics else -1,
                          index=chunk.has_column_index or chunk.has_offset_index)
        columns.append(column)
    keys = {k.decode(): v.decode() for k, v in (meta.metadata or {}).items()}
    return {"rows": rows, "columns": columns, "created_by": meta.created_by, "keys": keys, "groups": meta.num_row_groups}


def by_duckdb(name):
    import duckdb

    rows = duckdb.execute("select * from read_parquet(?, binary_as_string = false)", [name]).fetchall()
    return {"rows": [[text(v) for v in row] for row in rows]}


def value_of(comparison):
    kind, value = comparison["Type"], comparison["Value"]
    if kind.startswith("decimal"):
        return decimal.Decimal(value)
    return datetime.datetime.fromisoformat(value) if kind == "timestamp" else value


def count_by_pyarrow(name, comparisons):
    import pyarrow as pa
    import pyarrow.dataset as ds

    data = ds.dataset(name, format="parquet")
    counts = []
    for c in comparisons:
        field = ds.field(c["Column"])
        value = pa.scalar(value_of(c), type=data.schema.field(c["Column"]).type)
        test = {"=": field == value, "<": field < value, ">=": field >= value}[c["Operator"]]
        counts.append(data.count_rows(filter=test))
    return counts


def count_by_duckdb(name, comparisons):
    import duckdb

    return [duckdb.execute(f"select count(*) from read_parquet(?) where \"{c['Column']}\" {c['Operator']} cast(? as {sql_type(c)})",
                           [name, c["Value"]]).fetchone()[0] for c in comparisons]


def sql_type(comparison):
    return "varchar" if comparison["Type"] == "string" else comparison["Type"]


who, path = sys.argv[1:]
asked = sys.stdin.read()
if asked:
    out = {"counts": {"pyarrow": count_by_pyarrow, "duckdb": count_by_duckdb}[who](path, json.loads(asked))}
else:
    out = {"pyarrow": by_pyarrow, "duckdb": by_duckdb}[who](path)
json.dump(out, sys.stdout)
