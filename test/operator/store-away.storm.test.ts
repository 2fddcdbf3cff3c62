import { createReceiver, type Receiver } from 'posthorn';
import {
  createPostgresDeadLetters,
  createPostgresJournal,
  createPostgresStore,
  migratePostgres,
} from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { inOrder } from '../cli/letters.ts';
import { usePostgres } from '../stores/postgres/fixture.ts';
import type { PostgresServer } from '../stores/postgres/servers.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import type { RedisServer } from '../stores/redis/servers.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { until } from '../support/until.ts';
import { type Answer, type Ask, serveOperator } from './mounts.ts';
import { resultsOf } from './to-the-end.ts';

const options = { scope: 'away', commandTimeoutMs: 2_000 } as const;

/** For the event that runs as the store goes away. */
const times = { leaseMs: 3_000, deadlineMs: 8_000, maxRunMs: 10_000 } as const;

/** The time limit of the store, and what a busy machine adds to it. */
const LIMIT_MS = 8_000;

/** The 2 seconds that health promises, and the same. */
const HEALTH_LIMIT_MS = 6_000;

const LETTERS = '/api/dead-letters';
const REPLAY = `${LETTERS}/replay`;
const ids = Array.from({ length: 30 }, (_, index) => `evt_${String(index).padStart(2, '0')}`);

/** A way in which a store goes away, and comes back with all that it had. */
interface Outage {
  readonly takeAway: () => unknown;
  readonly bringBack: () => unknown;
}

async function within(limitMs: number, answer: Promise<Answer>): Promise<Answer> {
  const startedAt = performance.now();
  const answered = await answer;
  expect(performance.now() - startedAt).toBeLessThan(limitMs);
  return answered;
}

async function expectAway(ask: Ask, code: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await within(LIMIT_MS, ask(path));
    expect(answer, path).toMatchObject({ status: 503, body: { code, detail: expect.any(String) } });
  }
}

/** Lets a store go away in the middle of a replay, and proves the answers until it is back, and the rest. */
async function replayThrough(
  receiver: Receiver,
  { bringBack, takeAway }: Outage,
  ...ofJournal: readonly string[]
): Promise<void> {
  silenced('info');
  let isAway = false;
  const runs: string[] = [];
  receiver
    .on('*', async ({ id }) => {
      runs.push(id);
      if (runs.length === 5) {
        isAway = true;
        await takeAway();
      }
    })
    .observe(() => {});
  const ask = await serveOperator(receiver);
  const { deadLetters } = receiver;
  await Promise.all(inOrder(ids).map((each) => deadLetters?.put(each)));

  const first = await ask(REPLAY, { body: { selection: {} } });
  expect(isAway).toBe(true);
  expect(first).toMatchObject({ status: 200, body: { stopped: { code: expect.any(String) } } });
  expect(first.body.stopped?.code).toMatch(/^(store|dead_letters)_unavailable$/);
  expect(first.body.next).toBeDefined();
  await expectAway(ask, 'dead_letters_unavailable', LETTERS, `${LETTERS}/evt_20`);
  await expectAway(ask, 'journal_unavailable', ...ofJournal);
  const health = await within(HEALTH_LIMIT_MS, ask('/api/health'));
  expect(health).toMatchObject({ status: 200, body: { store: { ok: false }, deadLetters: { ok: false } } });
  const tried = await within(LIMIT_MS, ask(REPLAY, { body: { ids: ['evt_20', 'evt_21'] } }));
  expect(tried.body).toMatchObject({
    results: [],
    stopped: { code: 'dead_letters_unavailable' },
    next: { ids: ['evt_20', 'evt_21'] },
  });
  const again = await within(LIMIT_MS, ask(REPLAY, { body: { selection: {} } }));
  expect(again).toMatchObject({ status: 503, body: { code: 'dead_letters_unavailable' } });

  await bringBack();
  await until('it is back', async () => (await ask(LETTERS)).status === 200);
  await resultsOf(ask, REPLAY, first.body.next);
  expect([...new Set(runs)].toSorted()).toEqual(ids);
  // Nobody could write that the event which ran meanwhile has ended.
  await until('its time is over, and no dead letter is left', async () => {
    await resultsOf(ask, REPLAY);
    return (await ask(LETTERS)).body.deadLetters?.length === 0;
  });
}

describe('an interface of operators, in the middle of a replay', () => {
  describe('whose PostgreSQL', () => {
    const fixture = usePostgres();
    const outages = {
      'is stopped': ({ restart, stop }: PostgresServer) => ({
        takeAway: () => stop('immediate'),
        bringBack: restart,
      }),
      'is frozen': ({ freeze, thaw }: PostgresServer) => ({ takeAway: freeze, bringBack: thaw }),
    } as const;

    test.each(['is stopped', 'is frozen'] as const)(
      '%s answers in time, and finishes once it is back',
      async (how) => {
        const server = await fixture.servers.single();
        const pool = fixture.connect({ port: server.port });
        await migratePostgres(pool);
        const receiver = createReceiver({
          signingKey: KEY,
          store: createPostgresStore(pool, options),
          deadLetters: createPostgresDeadLetters(pool, options),
          journal: createPostgresJournal(pool, options),
          ...times,
        });
        await replayThrough(receiver, outages[how](server), '/api/events', '/api/events/evt_0');
        await receiver.close();
      },
    );
  });

  describe('whose Redis', () => {
    const fixture = useRedis();
    const durable = { appendonly: 'yes', appendfsync: 'always' } as const;
    const outages = {
      'is killed': ({ kill, restart }: RedisServer) => ({ takeAway: kill, bringBack: restart }),
      'is frozen': ({ signal }: RedisServer) => ({
        takeAway: () => signal('SIGSTOP'),
        bringBack: () => signal('SIGCONT'),
      }),
    } as const;

    test.each(['is killed', 'is frozen'] as const)(
      '%s answers in time, and finishes once it is back',
      async (how) => {
        const redis = await fixture.servers.single(durable);
        const client = await fixture.connect({ port: redis.port });
        const receiver = createReceiver({
          signingKey: KEY,
          store: createRedisStore(client, options),
          deadLetters: createRedisDeadLetters(client, options),
          ...times,
        });
        await replayThrough(receiver, outages[how](redis));
        await receiver.close();
      },
    );
  });
});
