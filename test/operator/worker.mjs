// An interface of operators in a process of its own, for tests that run two of them, or kill one. The handler
// notes each of its runs: in the table ledger, with an inbox, or in the file LOG.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createReceiver } from 'posthorn';
import { toNodeOperator } from 'posthorn/operator';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
} from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteJournal,
  createSqliteStore,
} from 'posthorn/sqlite';

const { STORE, PLACE, SCOPE: scope, DRIVER, LOG, KEY, RECEIVER } = process.env;
const options = { scope, commandTimeoutMs: 60_000 };

/** Makes runs overlap with those of the other process. */
const linger = () => sleep(Math.random() * 4);

async function noteInFile({ id }) {
  // Synchronously: what a kill cuts off after this has been noted.
  appendFileSync(LOG, `${id}\n`);
  await linger();
}

const openers = {
  postgres: () => {
    const pool = new pg.Pool({ connectionString: PLACE, max: 5 });
    pool.on('error', () => {});
    const inbox = createPostgresInbox(pool, { scope });
    const book = async ({ id }, { transaction }) => {
      await transaction.query('insert into ledger (event_id, amount) values ($1, 1)', [id]);
      await linger();
    };
    return {
      store: createPostgresStore(pool, options),
      deadLetters: createPostgresDeadLetters(pool, options),
      journal: createPostgresJournal(pool, options),
      handler: LOG === undefined ? inbox.once('book', book) : noteInFile,
    };
  },
  redis: () => {
    const redis = new Redis(Number(PLACE)).on('error', () => {});
    return {
      store: createRedisStore(redis, options),
      deadLetters: createRedisDeadLetters(redis, options),
      handler: noteInFile,
    };
  },
  sqlite: () => {
    const Database = createRequire(import.meta.url)(DRIVER);
    const database = new Database(PLACE, { timeout: 5_000 });
    const inbox = createSqliteInbox(database, { scope });
    const book = ({ id }, context) =>
      void context.database.prepare('insert into ledger (event_id, amount) values (?, 1)').run(id);
    return {
      store: createSqliteStore(database, options),
      deadLetters: createSqliteDeadLetters(database, options),
      journal: createSqliteJournal(database, options),
      handler: inbox.once('book', book),
    };
  },
};

const { handler, ...stores } = openers[STORE]();
const named = LOG === undefined ? undefined : { name: 'book' };
const receiver = createReceiver({ signingKey: KEY, ...stores, ...JSON.parse(RECEIVER ?? '{}') })
  .on('transfer.*', handler, named)
  .observe(() => {});

const listener = toNodeOperator(receiver, { path: '/operator', authorize: () => ({ name: 'tester' }) });
const server = createServer({ keepAliveTimeout: 0 }, listener);
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${server.address().port}\n`));
