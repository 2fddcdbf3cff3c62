import { Redis } from 'ioredis';
import { bench, group } from 'mitata';
import { createMemoryStore } from '../../dist/src/index.js';
import { createRedisStore } from '../../dist/src/stores/redis/index.js';
import { collidingIds } from '../load/colliding-ids.js';
import { startRedis } from '../run/redis-server.js';

export const title = 'stores';

/** As many events at once as a busy receiver has. */
const CONCURRENCY = 50;

/** So many ids of one hash once made each operation of the memory store take 4 ms. */
const COLLIDING = 48_000;

let nextId = 0;

/** @returns {Promise<() => Promise<void>>} what stops Redis */
export async function register() {
  const server = await startRedis();
  const client = (/** @type {boolean} */ enableAutoPipelining) =>
    new Redis({ host: '127.0.0.1', port: server.port, enableAutoPipelining });
  const clients = [client(true), client(false)];
  await Promise.all(clients.map((redis) => redis.ping()));
  const [pipelined, plain] = clients.map((redis) => createRedisStore(redis, { scope: 'bench' }));

  group('stores: claim and complete', () => {
    const memory = createMemoryStore();
    bench('memory', () => claimAndComplete(memory));
    bench('Redis, one after another', () => claimAndComplete(plain));
    bench(`Redis, ${CONCURRENCY} at once, plain client`, () => atOnce(plain));
    bench(`Redis, ${CONCURRENCY} at once, auto-pipelining client`, () => atOnce(pipelined));
  });
  const colliding = collidingIds(COLLIDING);
  const others = colliding.map((_, index) => `evt_${String(index).padStart(60, '0')}`);
  const stores = [await filled(others), await filled(colliding)];
  group(`stores: claim and complete one of ${COLLIDING} ids again, in memory`, () => {
    bench('ids of any hash', () => claimAgain(stores[0], others));
    bench('ids of one hash (FNV-1a)', () => claimAgain(stores[1], colliding));
  });
  return async () => {
    for (const redis of clients) redis.disconnect();
    await server.stop();
  };
}

/** @param {import('../../dist/src/index.js').Store} store */
async function claimAndComplete(store) {
  nextId += 1;
  const claim = { id: `evt_${nextId}`, token: `token_${nextId}`, retentionMs: 86_400_000 };
  await store.claim({ ...claim, leaseMs: 20_000 });
  await store.complete(claim);
}

/** @param {import('../../dist/src/index.js').Store} store */
async function atOnce(store) {
  await Promise.all(Array.from({ length: CONCURRENCY }, () => claimAndComplete(store)));
}

/** @param {readonly string[]} ids */
async function filled(ids) {
  const store = createMemoryStore();
  for (const id of ids) await store.complete({ id, token: 'token', retentionMs: 86_400_000 });
  return store;
}

/**
 * @param {import('../../dist/src/index.js').Store} store
 * @param {readonly string[]} ids
 */
async function claimAgain(store, ids) {
  nextId += 1;
  const claim = { id: ids[nextId % ids.length] ?? '', token: 'token', retentionMs: 86_400_000 };
  await store.claim({ ...claim, leaseMs: 20_000 });
  await store.complete(claim);
}
