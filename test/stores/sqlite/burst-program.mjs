// A receiver in a process of its own, on a file of SQLite whose disk is slow: each COMMIT takes SYNC_MS.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createSqliteInbox, createSqliteStore } from 'posthorn/sqlite';

const { DRIVER, FILE, KEY, SYNC_MS } = process.env;
const scope = 'burst';

/** The connection, which waits before each COMMIT with the lock and the event loop, as for a slow disk. */
function onSlowDisk(database) {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const prepare = (sql) => {
    const statement = database.prepare(sql);
    const commit = () => {
      Atomics.wait(signal, 0, 0, Number(SYNC_MS));
      return statement.run();
    };
    return sql === 'commit'
      ? { run: commit }
      : {
          run: (...values) => statement.run(...values),
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
  };
  return { prepare, exec: (sql) => database.exec(sql) };
}

const Database = createRequire(import.meta.url)(DRIVER);
const database = onSlowDisk(new Database(FILE, { timeout: 5_000 }));
const inbox = createSqliteInbox(database, { scope });
const receiver = createReceiver({
  signingKey: KEY,
  store: createSqliteStore(database, { scope, commandTimeoutMs: 3_000 }),
  deadlineMs: 29_000,
})
  .on('transfer.created', () => {})
  .on(
    'transfer.succeeded',
    inbox.once('book', ({ id }, context) => {
      context.database.prepare('insert into ledger (event_id, amount) values (?, 1)').run(id);
    }),
  );
const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver)).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${server.address().port}\n`);
});
