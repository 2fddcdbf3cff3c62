// A worker in a process of its own, whose handler books an event in a transaction of the inbox. With DIES it is
// killed between the commit and the record of the event.

import { Redis } from 'ioredis';
import pg from 'pg';
import { createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createPostgresInbox } from 'posthorn/postgres';
import { createRedisStore } from 'posthorn/redis';

const { REDIS_PORT, POSTGRES_URL, SCOPE, KEY, DIES } = process.env;

const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const pool = new pg.Pool({ connectionString: POSTGRES_URL });
const inbox = createPostgresInbox(pool, { scope: SCOPE });
const store = createRedisStore(new Redis(connection), { scope: SCOPE });
const complete = (request) => (DIES ? process.kill(process.pid, 'SIGKILL') : store.complete(request));

const receiver = createReceiver({
  signingKey: KEY,
  store: { ...store, complete },
  queue: createBullQueue({ connection, scope: SCOPE }),
  leaseMs: 1_000,
})
  .on(
    'transfer.succeeded',
    inbox.once('book', async ({ id }, { transaction }) => {
      await transaction.query('insert into ledger (event_id) values ($1)', [id]);
    }),
    { queue: true, name: 'book' },
  )
  .observe(({ outcome, handlers }) => process.stdout.write(`reported ${outcome} ${handlers[0]?.skipped}\n`));

createBullWorker(receiver, { connection, scope: SCOPE });
