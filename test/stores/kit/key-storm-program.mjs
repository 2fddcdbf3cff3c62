// A receiver in a process of its own, on the store that STORE names. Its handler has a concurrency key, and
// writes to the file LOG when it begins and ends, by a clock that all processes share. A request for /replay
// replays all dead letters, and is answered with the number of those that are left.

import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';

const { STORE, ADDRESS, DRIVER, LOG, KEY, OPTIONS } = process.env;
const settings = { scope: 'keys', commandTimeoutMs: 1_000 };

const open = {
  async redis() {
    const { Redis } = await import('ioredis');
    const { createRedisDeadLetters, createRedisStore } = await import('posthorn/redis');
    const client = new Redis({ host: '127.0.0.1', port: Number(ADDRESS) });
    await new Promise((resolve) => client.once('ready', resolve));
    return {
      store: createRedisStore(client, settings),
      deadLetters: createRedisDeadLetters(client, settings),
    };
  },
  async postgres() {
    const { default: pg } = await import('pg');
    const { createPostgresDeadLetters, createPostgresStore } = await import('posthorn/postgres');
    const pool = new pg.Pool({ connectionString: ADDRESS });
    return {
      store: createPostgresStore(pool, settings),
      deadLetters: createPostgresDeadLetters(pool, settings),
    };
  },
  async sqlite() {
    const { createSqliteDeadLetters, createSqliteStore } = await import('posthorn/sqlite');
    const Database = createRequire(import.meta.url)(DRIVER);
    const database = new Database(ADDRESS, { timeout: 5_000 });
    return {
      store: createSqliteStore(database, settings),
      deadLetters: createSqliteDeadLetters(database, settings),
    };
  },
};

// Each record is appended at once, so that a kill takes none back.
const log = openSync(LOG, 'a');
function note(...words) {
  writeSync(log, `${[process.pid, process.hrtime.bigint(), ...words].join(' ')}\n`);
}

/** Most handlers take some milliseconds; a few take longer than a third of the lease, or than all of it. */
function chooseMs() {
  const chance = Math.random();
  if (chance < 0.005) return 3_500;
  return chance < 0.03 ? 1_200 : 5 + Math.random() * 20;
}

const { store, deadLetters } = await open[STORE]();
let runs = 0;
const receiver = createReceiver({ signingKey: KEY, store, deadLetters, ...JSON.parse(OPTIONS) })
  .on(
    '*',
    async ({ id, data }) => {
      runs += 1;
      const run = runs;
      note('begin', run, data.id, id);
      await sleep(chooseMs());
      note('end', run);
    },
    { name: 'book', concurrencyKey: ({ data }) => data.id },
  )
  .observe(({ code, outcome }) => void process.stdout.write(`reported ${outcome} ${code}\n`));

async function replayAll(response) {
  let left = 0;
  for await (const letter of deadLetters.list()) {
    const { status } = await receiver.replay(letter);
    if (status !== 200) left += 1;
  }
  response.end(String(left));
}

const receive = toNode(receiver);
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  if (request.url !== '/replay') return receive(request, response);
  replayAll(response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${process.pid} ${server.address().port}\n`);
});
