// Receivers in workers of node:cluster that share a file of SQLite. A worker that ends is forked again. Each
// kills itself once, between the commit of a handler and the store's record of it.

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';
import { runInWorkers } from '../memory/cluster-workers.mjs';

const { WORKERS, PORT, DRIVER, FILE, KEY } = process.env;
const scope = 'storm';

function note(...words) {
  process.stdout.write(`${words.join(' ')}\n`);
}

const isSlow = () => existsSync(`${FILE}.slow`);

/** The connection, whose clock and that of these processes are 5 seconds slow while a file is there. */
function withSlowClock(database) {
  const now = Date.now;
  Date.now = () => now() - (isSlow() ? 5_000 : 0);
  const prepare = (sql) => {
    const prepared = database.prepare(sql);
    const current = () =>
      isSlow()
        ? database.prepare(sql.replaceAll("unixepoch('subsec')", String(Date.now() / 1_000)))
        : prepared;
    return {
      run: (...values) => current().run(...values),
      get: (...values) => current().get(...values),
      all: (...values) => current().all(...values),
    };
  };
  return { prepare, exec: (sql) => database.exec(sql) };
}

async function receive() {
  const Database = createRequire(import.meta.url)(DRIVER);
  const database = withSlowClock(new Database(FILE, { timeout: 5_000 }));
  await migrateSqlite(database);
  const inbox = createSqliteInbox(database, { scope });
  const kept = createSqliteStore(database, { scope, commandTimeoutMs: 1_000 });
  let completionsLeft = 10 + Math.floor(Math.random() * 20);
  const store = {
    ...kept,
    complete: async (request) => {
      completionsLeft -= 1;
      if (completionsLeft === 0) {
        note('committed', request.id);
        process.kill(process.pid, 'SIGKILL');
      }
      return kept.complete(request);
    },
  };
  const receiver = createReceiver({
    signingKey: KEY,
    store,
    deadLetters: createSqliteDeadLetters(database, { scope }),
    leaseMs: 1_500,
    deadlineMs: 6_000,
  })
    .on(
      'transfer.succeeded',
      inbox.once('book', ({ id, data }, context) => {
        const insert = context.database.prepare('insert into ledger (event_id, amount) values (?, ?)');
        insert.run(id, data.amount);
        insert.run(id, -data.amount);
      }),
    )
    // Without the inbox: what the store promises alone.
    .on('transfer.failed', ({ id }) => {
      note('handled', id);
    })
    .observe(({ event, outcome, handlers, error, warnings }) => {
      if (warnings.some((warning) => warning.startsWith('completion_pending'))) note('pending', event?.id);
      note('reported', event?.id, outcome, handlers[0]?.skipped, error?.message);
    });
  createServer({ keepAliveTimeout: 0 }, toNode(receiver)).listen(Number(PORT), '127.0.0.1');
}

await runInWorkers(Number(WORKERS), receive);
