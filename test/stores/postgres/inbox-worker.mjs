// A receiver in a process of its own, for tests that kill or freeze it. Its handler books an event, with the
// inbox or without, and prints where it is.

import { createServer } from 'node:http';
import pg from 'pg';
import { createMemoryStore, createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createPostgresInbox } from 'posthorn/postgres';

function note(...words) {
  process.stdout.write(`${words.join(' ')}\n`);
}

const { POSTGRES_URL, KEY, MODE, OPTIONS } = process.env;

const pool = new pg.Pool({ connectionString: POSTGRES_URL });
pool.on('error', (error) => note('pool', error.message));
const inbox = createPostgresInbox(pool, { scope: 'inbox-test' });

const memory = createMemoryStore();
const store = {
  ...memory,
  claim: (request) => memory.claim(request),
  renew: (request) => memory.renew(request),
  release: (request) => memory.release(request),
  // Between the handler's end and the record of it.
  complete: (request) => (MODE === 'dies' ? process.kill(process.pid, 'SIGKILL') : memory.complete(request)),
};

const book = async (event, client) => {
  await client.query('insert into ledger (event_id) values ($1)', [event.id]);
  note('booked', event.id);
};
const handlers = {
  dies: { inbox: (event, { transaction }) => book(event, transaction), plain: (event) => book(event, pool) },
  freezes: {
    inbox: async (event, { transaction }) => {
      await book(event, transaction);
      // The test lets it go on much later.
      process.kill(process.pid, 'SIGSTOP');
      await transaction.query('select 1');
    },
  },
};

const receiver = createReceiver({ signingKey: KEY, store, ...JSON.parse(OPTIONS ?? '{}') })
  .on('transfer.succeeded', inbox.once('book', handlers[MODE].inbox))
  .on('transfer.failed', (event) => handlers[MODE].plain(event), { name: 'plain' })
  .observe(({ outcome, error }) => note('reported', outcome, error?.message));

const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
server.listen(0, '127.0.0.1', () => note('listening', server.address().port));
