// Runs the referees' checks with node-oracledb in thin mode: reads one JSON object from standard input (where to
// connect, and steps) and prints one JSON object a step.
'use strict';
const oracledb = require('oracledb');

const CANCEL_AFTER = 300; // milliseconds into a call that the server holds

const LOBS = [oracledb.DB_TYPE_CLOB, oracledb.DB_TYPE_NCLOB, oracledb.DB_TYPE_BLOB];

class Client {
  constructor(plan) {
    this.plan = plan;
    this.open = new Map();
  }

  connect({ user, password, service } = {}) {
    const p = this.plan;
    return oracledb.getConnection({
      user: user || p.user, password: password || p.password,
      connectString: `${p.host}:${p.port}/${service || p.service}`,
    });
  }

  async session(number) {
    if (!this.open.has(number)) this.open.set(number, await this.connect());
    return this.open.get(number);
  }

  async run(step) {
    try {
      return await this[step.do](step);
    } catch (e) {
      return failure(e);
    }
  }

  async query(step) {
    const conn = await this.session(step.session);
    const size = step.fetch || 100;
    const out = { rows: [] };
    let timer;
    if (step.cancel) timer = setInterval(() => conn.break(), CANCEL_AFTER);
    try {
      const result = await conn.execute(step.sql, binds(step), {
        resultSet: true, fetchArraySize: size, prefetchRows: Math.min(size, 2), fetchTypeHandler: (m) => as(m, step.locator),
      });
      out.columns = result.metaData.map((m) => m.name);
      for (let row; (row = await result.resultSet.getRow());) out.rows.push(await Promise.all(row.map(text)));
      await result.resultSet.close();
    } catch (e) {
      Object.assign(out, failure(e));
    } finally {
      clearInterval(timer);
    }
    return out;
  }

  async exec(step) {
    const result = await (await this.session(step.session)).execute(step.sql, binds(step));
    return { affected: result.rowsAffected || 0 };
  }

  async batch(step) {
    const conn = await this.session(step.session);
    const rows = step.rows.map((row) => row.map(value));
    const bindDefs = step.rows[0].map((b) => ({ type: bindType(b.type), maxSize: 100 }));
    const result = await conn.executeMany(step.sql, rows, { bindDefs, batchErrors: !!step.lenient });
    const errors = (result.batchErrors || []).map((e) => [e.offset, e.errorNum || code(e.message)]);
    return { affected: result.rowsAffected, errors };
  }

  async commit(step) {
    await (await this.session(step.session)).commit();
    return {};
  }

  async rollback(step) {
    await (await this.session(step.session)).rollback();
    return {};
  }

  async login(step) {
    await (await this.connect(step)).close();
    return {};
  }

  async sessions_in_turn(step) {
    let affected = 0;
    for (let i = 0; i < step.count; i++) {
      const conn = await this.connect();
      affected += (await conn.execute(step.sql)).rows[0][0];
      await conn.close();
    }
    return { affected };
  }

  async interleave(step) {
    const options = { resultSet: true, fetchArraySize: step.fetch, prefetchRows: step.fetch, fetchTypeHandler: (m) => as(m) };
    const sets = [];
    for (const number of [0, 1]) sets.push((await (await this.session(number)).execute(step.sql, [], options)).resultSet);
    const rows = [];
    for (;;) {
      const pair = [await sets[0].getRow(), await sets[1].getRow()];
      if (!pair[0] || !pair[1]) {
        for (const set of sets) await set.close();
        return pair[0] || pair[1] ? { error: 1, message: 'one result is shorter' } : { rows };
      }
      rows.push(await Promise.all(pair.flat().map(text)));
    }
  }

  async close() {
    for (const conn of this.open.values()) await conn.close();
  }
}

// as picks the JavaScript type of a column: what would lose digits as a double is fetched as text.
function as(column, locator) {
  if (column.dbType === oracledb.DB_TYPE_NUMBER) return { type: oracledb.STRING };
  if (locator || !LOBS.includes(column.dbType)) return undefined;
  return { type: column.dbType === oracledb.DB_TYPE_BLOB ? oracledb.BUFFER : oracledb.STRING };
}

function code(message) {
  if (message.startsWith('NJS-518')) return 12514; // its words for a service that the listener does not know
  const m = /ORA-(\d+)/.exec(message);
  return m ? Number(m[1]) : -1;
}

function failure(e) {
  return { error: code(e.message), position: e.offset, message: e.message };
}

function bindType(type) {
  return { number: oracledb.NUMBER, date: oracledb.DB_TYPE_TIMESTAMP, raw: oracledb.BUFFER, text: oracledb.STRING }[type];
}

function value(b) {
  if (b.value === null) return null;
  switch (b.type) {
    case 'number': return Number(b.value);
    case 'date': return new Date(b.value + 'Z');
    case 'raw': return Buffer.from(b.value, 'hex');
  }
  return b.value;
}

function binds(step) {
  return (step.binds || []).map((b) => ({ val: value(b), type: bindType(b.type) }));
}

async function text(v) {
  if (v === null || v === undefined) return null;
  if (Buffer.isBuffer(v)) return v.toString('hex').toUpperCase();
  if (v instanceof Date) return v.toISOString().replace('T', ' ').replace('Z', '');
  if (v instanceof oracledb.Lob) return text(await v.getData());
  if (v.days !== undefined) return span(v);
  if (v.months !== undefined) return (v.years < 0 || v.months < 0 ? '-' : '') + Math.abs(v.years) + '-' + Math.abs(v.months);
  return String(v);
}

function span(v) {
  const part = (n) => Math.abs(n || 0);
  const negative = [v.days, v.hours, v.minutes, v.seconds, v.fseconds].some((n) => n < 0);
  const fraction = String(part(v.fseconds)).padStart(9, '0');
  return `${negative ? '-' : ''}${part(v.days)} ${part(v.hours)}:${part(v.minutes)}:${part(v.seconds)}.${fraction}`;
}

async function main() {
  const input = [];
  for await (const piece of process.stdin) input.push(piece);
  const plan = JSON.parse(Buffer.concat(input));
  const client = new Client(plan);
  for (const step of plan.steps) process.stdout.write(JSON.stringify(await client.run(step)) + '\n');
  await client.close();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
