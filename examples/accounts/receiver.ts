// The receiver that server.ts and worker.ts share: each merchant has a path and keys of its own. Keys, ids,
// dead letters and the queue are in PostgreSQL. POSTGRES_URL is the address.

import { Pool } from 'pg';
import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { observeWithPrometheus } from 'posthorn/prometheus';

const connection = {
  connectionString: process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1/postgres',
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
};
const pool = new Pool(connection);
pool.on('error', (error) => console.error(`postgres: ${error.message}`));
// A stranger's request causes a look-up too. The receiver gives up a key after 5 seconds.
const keyPool = new Pool({ ...connection, query_timeout: 4_000, max: 4 });
keyPool.on('error', (error) => console.error(`postgres of the keys: ${error.message}`));
const queuePool = new Pool({ ...connection, options: '-c search_path=bullmq -c statement_timeout=9s' });
queuePool.on('error', (error) => console.error(`postgres of the queue: ${error.message}`));
await migratePostgres(pool);
await migrateBullQueue(pool);
await pool.query('create table if not exists merchants (id text primary key, signing_keys text[] not null)');

/** Finds the keys of a merchant: two while one takes the place of the other, and none for a stranger. */
async function findKeys(merchant?: string): Promise<string[] | undefined> {
  const { rows } = await keyPool.query('select signing_keys from merchants where id = $1', [merchant]);
  return rows[0]?.signing_keys;
}

const scope = 'example-development';

/** The place of the queue, for the worker as well. */
export const place: BullQueueOptions = { backend: 'postgres', connection: queuePool, scope };

export const queue: Queue = createBullQueue(place);

export const receiver: Receiver = createReceiver({
  account: ({ url }) => /^\/webhooks\/([\w-]+)(?:\?|$)/.exec(url)?.[1],
  signingKey: findKeys,
  store: createPostgresStore(pool, { scope }),
  deadLetters: createPostgresDeadLetters(pool, { scope }),
  queue,
}).on('*', ({ id, type }, { event }) => console.log(event.account, type, id), { name: 'print', queue: true });
observeWithPrometheus(receiver);
