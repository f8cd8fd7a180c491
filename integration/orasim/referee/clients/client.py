"""Runs the referees' checks with python-oracledb in thin mode.

Reads one JSON object from standard input: where to connect, and steps. Prints one JSON object a step. With the argument
"arrow", queries are fetched as Arrow tables.
"""

import datetime
import decimal
import json
import re
import sys
import threading

import oracledb

ARROW = sys.argv[1:] == ["arrow"]
if ARROW:
    import pyarrow

CANCEL_AFTER = 0.3  # seconds into a call that the server holds


class Client:
    def __init__(self, plan):
        self.plan = plan
        self.sessions = {}

    def connect(self, user=None, password=None, service=None):
        p = self.plan
        dsn = f"{p['host']}:{p['port']}/{service or p['service']}"
        return oracledb.connect(user=user or p["user"], password=password or p["password"], dsn=dsn)

    def session(self, number):
        if number not in self.sessions:
            self.sessions[number] = self.connect()
        return self.sessions[number]

    def run(self, step):
        try:
            return getattr(self, step["do"])(step)
        except oracledb.Error as e:
            return failure(e)

    def query(self, step):
        conn = self.session(step["session"])
        if ARROW and not step.get("cancel"):
            return arrow(conn, step)
        with conn.cursor() as cur:
            size = step.get("fetch") or 100
            cur.arraysize, cur.prefetchrows = size, min(size, 2)
            done = threading.Event()
            if step.get("cancel"):
                threading.Thread(target=cancel, args=(conn, done)).start()
            result = {"rows": []}
            try:
                cur.execute(step["sql"], binds(step), fetch_lobs=step.get("locator", False), fetch_decimals=True)
                result["columns"] = [d.name for d in cur.description]
                for row in cur:
                    result["rows"].append([text(v) for v in row])
            except oracledb.Error as e:
                result.update(failure(e))
            finally:
                done.set()
            return result

    def exec(self, step):
        with self.session(step["session"]).cursor() as cur:
            cur.execute(step["sql"], binds(step))
            return {"affected": cur.rowcount}

    def batch(self, step):
        with self.session(step["session"]).cursor() as cur:
            rows = [[value(b) for b in row] for row in step["rows"]]
            cur.executemany(step["sql"], rows, batcherrors=step.get("lenient", False))
            errors = [[e.offset, e.code] for e in cur.getbatcherrors()] if step.get("lenient") else []
            return {"affected": cur.rowcount, "errors": errors}

    def commit(self, step):
        self.session(step["session"]).commit()
        return {}

    def rollback(self, step):
        self.session(step["session"]).rollback()
        return {}

    def login(self, step):
        self.connect(step.get("user"), step.get("password"), step.get("service")).close()
        return {}

    def sessions_in_turn(self, step):
        n = 0
        for _ in range(step["count"]):
            with self.connect() as conn, conn.cursor() as cur:
                n += int(cur.execute(step["sql"]).fetchone()[0])
        return {"affected": n}

    def interleave(self, step):
        cursors = []
        for number in (0, 1):
            cur = self.session(number).cursor()
            cur.arraysize = cur.prefetchrows = step["fetch"]
            cursors.append(cur.execute(step["sql"], fetch_decimals=True))
        rows = []
        while True:
            pair = [cur.fetchone() for cur in cursors]
            if None in pair:
                return {"rows": rows} if pair == [None, None] else {"error": 1, "message": "one result is shorter"}
            rows.append([text(v) for row in pair for v in row])


def cancel(conn, done):
    """Cancels again and again: a cancel that comes before the call is for nothing."""
    while not done.wait(CANCEL_AFTER):
        conn.cancel()


def arrow(conn, step):
    frame = conn.fetch_df_all(step["sql"], binds(step), arraysize=step.get("fetch") or 100, fetch_decimals=True)
    table = pyarrow.table(frame)
    columns = []
    for column in table.columns:
        if pyarrow.types.is_timestamp(column.type):
            column = column.cast(pyarrow.string())
        columns.append([text(v) for v in column.to_pylist()])
    return {"columns": table.column_names, "rows": [list(row) for row in zip(*columns)]}


def failure(e):
    (info,) = e.args
    code = int(m.group(1)) if (m := re.search(r"ORA-(\d+)", info.message)) else info.code or -1
    return {"error": code, "position": info.offset, "message": info.message}


def binds(step):
    return [value(b) for b in step.get("binds") or []]


def value(b):
    v = b["value"]
    if v is None:
        return None
    match b["type"]:
        case "number":
            return decimal.Decimal(v)
        case "date":
            return datetime.datetime.fromisoformat(v)
        case "raw":
            return bytes.fromhex(v)
    return v


def text(v):
    match v:
        case None:
            return None
        case str():
            return v
        case oracledb.LOB():
            return text(v.read())
        case bytes():
            return v.hex().upper()
        case datetime.datetime():
            return v.isoformat(sep=" ")
        case datetime.timedelta():
            return interval(v)
        case oracledb.IntervalYM():
            return years(12 * v.years + v.months)
    if ARROW and isinstance(v, pyarrow.MonthDayNano):
        return years(v.months) if v.months else interval(datetime.timedelta(days=v.days, microseconds=v.nanoseconds // 1000))
    return str(v)


def years(months):
    return f"{'-' if months < 0 else ''}{abs(months) // 12}-{abs(months) % 12}"


def interval(v):
    sign, v = ("-", -v) if v < datetime.timedelta(0) else ("", v)
    minutes, seconds = divmod(v.seconds, 60)
    return f"{sign}{v.days} {minutes // 60}:{minutes % 60}:{seconds}.{v.microseconds:06}"


def main():
    plan = json.load(sys.stdin)
    client = Client(plan)
    for step in plan["steps"]:
        print(json.dumps(client.run(step)), flush=True)
    for conn in client.sessions.values():
        conn.close()


main()
