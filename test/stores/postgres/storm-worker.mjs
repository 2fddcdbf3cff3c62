// A receiver in a process of its own, for tests that kill it at random. Its handler books an event in two
// tables. The process also kills itself once, between the commit of a handler and the store's record of it.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createPostgresInbox, createPostgresStore } from 'posthorn/postgres';

const { POSTGRES_URL, REDIS_PORT, KEY, COMPLETIONS } = process.env;
const SCOPE = 'storm';

function note(...words) {
  process.stdout.write(`${words.join(' ')}\n`);
}

/** Loads what it needs only where it is called: some forty of these processes are started. */
async function openRedisStore() {
  const { Redis } = await import('ioredis');
  const { createRedisStore } = await import('posthorn/redis');
  const redis = new Redis({ host: '127.0.0.1', port: Number(REDIS_PORT) });
  await new Promise((resolve) => redis.once('ready', resolve));
  return createRedisStore(redis, settings);
}

const pool = new pg.Pool({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 5_000 });
pool.on('error', (error) => note('pool', error.message));
const inbox = createPostgresInbox(pool, { scope: SCOPE });
const settings = { scope: SCOPE, commandTimeoutMs: 1_000 };
const kept = REDIS_PORT === undefined ? createPostgresStore(pool, settings) : await openRedisStore();

let completions = 0;
const store = {
  ...kept,
  complete: async (request) => {
    completions += 1;
    if (completions === Number(COMPLETIONS)) {
      note('committed', request.id);
      process.kill(process.pid, 'SIGKILL');
    }
    return kept.complete(request);
  },
};

const pause = () => sleep(Math.random() * 10);

const receiver = createReceiver({ signingKey: KEY, store, leaseMs: 1_500, deadlineMs: 6_000 })
  .on(
    'transfer.succeeded',
    inbox.once('book', async ({ id, data }, { transaction }) => {
      await pause();
      await transaction.query('insert into ledger (event_id, amount) values ($1, $2)', [id, data.amount]);
      await pause();
      await transaction.query('insert into clearing (event_id, amount) values ($1, $2)', [id, -data.amount]);
      await pause();
      await transaction.query('update balances set amount = amount + $2 where account = $1', [
        data.amount % 3,
        data.amount,
      ]);
    }),
  )
  .observe(({ event, outcome, handlers, error }) => {
    note('reported', event?.id, outcome, handlers[0]?.skipped, error?.cause?.code, error?.message);
  });

const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
