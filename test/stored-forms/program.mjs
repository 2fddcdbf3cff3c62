// A receiver, or a worker of its queue, in a process of its own: the same program on each version of
// posthorn. It is copied into the folder of an earlier version, so that `posthorn` is that version. The data
// of an event says how its handler ends. The program notes what it does, in the file LOG and on its output.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver, PermanentError } from 'posthorn';
import { toNode } from 'posthorn/node';

const { ROLE, STORE, LETTERS, QUEUE, REDIS_PORT, POSTGRES_URL, D1_FILE, DIRECTORY, SCOPE, KEY } = process.env;
const { SQLITE_DRIVER, LEASE_MS, LOG } = process.env;
const scope = SCOPE;

function note(...words) {
  const line = [process.pid, ...words].join(' ');
  // Synchronously: what a kill cuts off after this has been noted.
  if (LOG !== undefined) appendFileSync(LOG, `${line}\n`);
  process.stdout.write(`${line}\n`);
}

/** Each is loaded only if it is used: version 0.1.0 has neither PostgreSQL nor a queue, and 0.2.0 no D1. */
async function openRedis() {
  const { Redis } = await import('ioredis');
  const redis = new Redis({ host: '127.0.0.1', port: Number(REDIS_PORT) });
  redis.on('error', (error) => note('redis', error.message));
  await new Promise((resolve) => redis.once('ready', resolve));
  const { createRedisStore, createRedisDeadLetters } = await import('posthorn/redis');
  return { store: createRedisStore(redis, { scope }), deadLetters: createRedisDeadLetters(redis, { scope }) };
}

async function openPostgres() {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: POSTGRES_URL });
  pool.on('error', (error) => note('postgres', error.message));
  const postgres = await import('posthorn/postgres');
  await postgres.migratePostgres(pool);
  return {
    store: postgres.createPostgresStore(pool, { scope }),
    deadLetters: postgres.createPostgresDeadLetters(pool, { scope }),
    inbox: postgres.createPostgresInbox(pool, { scope }),
  };
}

async function openFiles() {
  const { createFileDeadLetters } = await import('posthorn/file');
  return { store: undefined, deadLetters: createFileDeadLetters(DIRECTORY) };
}

/** On a file of SQLite, which several processes share as isolates share a database of D1. */
async function openD1() {
  // Of the tests, because an earlier version may have had another one.
  const { default: Database } = await import(SQLITE_DRIVER);
  const database = new Database(D1_FILE, { timeout: 1_000 });
  const rowsOf = ({ sql, values }) => {
    const statement = database.prepare(sql);
    if (/^select|\breturning\b/.test(sql)) return statement.all(...values);
    statement.run(...values);
    return [];
  };
  const runAll = (statements) => {
    try {
      const results = statements.map((statement) => ({ results: rowsOf(statement) }));
      database.exec('commit');
      return results;
    } catch (error) {
      database.exec('rollback');
      throw error;
    }
  };
  const binding = {
    prepare: (sql) => ({ bind: (...values) => ({ sql, values }) }),
    batch: async (statements) => {
      try {
        database.exec('begin immediate');
        return runAll(statements);
      } catch (error) {
        const isBusy = error.code === 'SQLITE_BUSY';
        throw new Error(`D1_ERROR: ${isBusy ? 'D1 DB is overloaded' : error.message}`, { cause: error });
      }
    },
  };
  const { createD1Store, createD1DeadLetters } = await import('posthorn/d1');
  return {
    store: createD1Store(binding, { scope }),
    deadLetters: createD1DeadLetters(binding, { scope }),
  };
}

const servers = { redis: openRedis, postgres: openPostgres, files: openFiles, d1: openD1 };
const { store, deadLetters, inbox } = await servers[STORE]();

/** Loses the answers to claims of some events, before or after it has claimed, and to one completion. */
const losingAnswers = {
  claim: async (request) => {
    const answer = request.id === 'evt_unclaimed' ? undefined : await store.claim(request);
    if (/^evt_un(claimed|answered)$/.test(request.id)) throw new Error('the answer was lost');
    return answer;
  },
  complete: (request) => {
    if (request.token !== 'dropped' || request.id !== 'evt_refused') return store.complete(request);
    note('held', request.id);
    return new Promise(() => {});
  },
};

const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
const bullmq = QUEUE === undefined ? undefined : await import('posthorn/bullmq');
const queue = bullmq?.createBullQueue({ connection, scope });

/** Ends as the data of the event says: with its attempt of that number, for good, never or at once. */
async function work({ id, data }, { attempt }) {
  note('begun', id, attempt);
  if (data.workMs !== undefined) await sleep(Math.random() * data.workMs);
  if (data.plan === 'hang') await new Promise(() => {});
  if (data.plan === 'refuse') throw new PermanentError('refused for good');
  if (data.plan === 'fail' || attempt <= data.failures) throw new Error('failed for now');
}

async function handle(event, context) {
  await work(event, context);
  note('handled', event.id);
  // Kills are to fall here too, between the effect and its record.
  if (event.data.workMs !== undefined) await sleep(Math.random() * 20);
}

async function book(event, context) {
  await context.transaction.query('insert into ledger (event_id) values ($1)', [event.id]);
  await handle(event, context);
}

async function keepState({ id, data, created_at }, { transaction }) {
  await transaction.query(
    `insert into states (id, event_id, created_at) values ($1, $2, $3)
    on conflict (id) do update set event_id = $2, created_at = $3`,
    [data.id, id, created_at],
  );
  note('handled', id);
}

const receiver = createReceiver({
  signingKey: KEY,
  deadLetters: LETTERS === 'none' ? undefined : deadLetters,
  ...(store && { store: Object.assign(Object.create(store), losingAnswers) }),
  ...(queue && { queue }),
  ...(LEASE_MS && { leaseMs: Number(LEASE_MS) }),
}).on('*', ({ id }) => note('logged', id), { name: 'log' });
if (inbox === undefined) receiver.on('transfer.*', handle, { name: 'book' });
else {
  receiver.on('transfer.*', inbox.once('book', book));
  receiver.on('subscription.*', inbox.once('state', keepState, { latest: ({ data }) => data.id }));
}
receiver.on(
  'transfer.*',
  async ({ id, data }) => {
    note('after', id);
    if (data.plan === 'hang after the others') await new Promise(() => {});
  },
  { name: 'after' },
);
if (queue !== undefined && ROLE !== 'stranger')
  receiver.on('dispute.*', handle, { name: 'settle', queue: true });
receiver.observe(async ({ event, outcome, code }) => {
  note('reported', event?.id, outcome, code);
  if (!event?.id.startsWith('evt_dropped')) return;
  if (await receiver.drop(await deadLetters.get(event.id))) note('dropped', event.id);
});

/** Runs the handler of an event once more. */
async function rerunState() {
  const event = {
    id: 'evt_state',
    type: 'subscription.updated',
    created_at: new Date(),
    data: { id: 'SUB1' },
  };
  const entry = {
    id: event.id,
    type: event.type,
    provider: 'banking-service',
    firstReceivedAt: Date.now(),
    handled: ['state'],
    rawBody: Buffer.from(JSON.stringify(event)),
  };
  // Versions before 0.3.0 have no reruns.
  const report = await receiver.rerun?.(entry, { handlers: ['state'], run: 'fix' });
  note('rerun', event.id, report?.outcome);
}
process.once('SIGHUP', rerunState);

process.once('SIGUSR2', async () => receiver.drop(await deadLetters.get('evt_refused')));

if (ROLE !== 'receiver') {
  const worker = bullmq.createBullWorker(receiver, { connection, scope });
  process.once('SIGTERM', async () => {
    await worker.close({ graceMs: 5_000 });
    process.exit();
  });
  note('working');
} else {
  const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
  process.once('SIGTERM', async () => {
    server.close();
    await receiver.close({ graceMs: 5_000 });
    process.exit();
  });
  server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
}
