// Runs a handler of an inbox once more, in a process of its own, which kills itself at the place that DIES
// names: in the `handler`, before the `commit`, or before the store has the `completion`.

import { createRequire } from 'node:module';
import { createMemoryStore, createReceiver } from 'posthorn';

const { DIES, DRIVER, ENTRY, FILE, KEY, POSTGRES_URL, SCOPE } = process.env;

function dieAt(place) {
  if (DIES === place) process.kill(process.pid, 'SIGKILL');
}

async function handlerInPostgres() {
  const { default: pg } = await import('pg');
  const { createPostgresInbox } = await import('posthorn/postgres');
  const pool = new pg.Pool({ connectionString: POSTGRES_URL });
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    client.query = (statement, ...values) => {
      if ((statement.text ?? statement) === 'commit') dieAt('commit');
      return query(statement, ...values);
    };
  });
  return createPostgresInbox(pool, { scope: SCOPE }).once('book', async ({ id }, { transaction }) => {
    await transaction.query('insert into ledger (event_id) values ($1)', [id]);
    dieAt('handler');
  });
}

async function handlerInSqlite() {
  const { createSqliteInbox } = await import('posthorn/sqlite');
  const Database = createRequire(import.meta.url)(DRIVER);
  const opened = new Database(FILE, { timeout: 5_000 });
  const database = {
    exec: (sql) => opened.exec(sql),
    prepare: (sql) => {
      const statement = opened.prepare(sql);
      const run = (...values) => {
        if (sql === 'commit') dieAt('commit');
        return statement.run(...values);
      };
      return {
        run,
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
      };
    },
  };
  return createSqliteInbox(database, { scope: SCOPE }).once('book', ({ id }, context) => {
    context.database.prepare('insert into ledger (event_id) values (?)').run(id);
    dieAt('handler');
  });
}

const store = createMemoryStore();
const complete = (request) => {
  dieAt('completion');
  return store.complete(request);
};
const receiver = createReceiver({ signingKey: KEY, store: Object.assign(Object.create(store), { complete }) })
  .observe(() => {})
  .on('transfer.*', FILE === undefined ? await handlerInPostgres() : await handlerInSqlite());
const { rawBody, ...entry } = JSON.parse(ENTRY);
const body = Buffer.from(rawBody, 'base64');
const { outcome } = await receiver.rerun({ ...entry, rawBody: body }, { handlers: ['book'], run: 'fix' });
process.stdout.write(`${outcome}\n`);
