import { randomUUID } from 'node:crypto';
import type { DeadLetters } from 'posthorn';
import { createPostgresDeadLetters } from 'posthorn/postgres';
import { createRedisDeadLetters } from 'posthorn/redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { createLedger } from '../stores/postgres/ledger.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { ampleTime } from '../support/limits.ts';
import { readAll } from '../support/read-all.ts';
import { until } from '../support/until.ts';
import type { Ask, OperatorResult } from './mounts.ts';
import { portions, resultsOf } from './to-the-end.ts';
import { createLog, fill, ids, isCutOff, startOperator, type WorkerPlace } from './workers.ts';

/** Once these times are over, nothing is left of the run of a killed process. */
const receiver = { leaseMs: 5_000, deadlineMs: 8_000, maxRunMs: 10_000 } as const;

const REPLAY = '/api/dead-letters/replay';

/** Follows the deed until its process is killed. */
async function untilKilled(ask: Ask, results: OperatorResult[]): Promise<void> {
  try {
    for await (const answer of portions(ask, REPLAY, { selection: {} }))
      results.push(...(answer.results ?? []));
  } catch (error) {
    if (!isCutOff(error)) throw error;
  }
}

/**
 * Two processes replay all dead letters, one is killed after `runs` says that it is in the middle, and the
 * other goes on. Proves that each dead letter is gone or listed, and in the end gone.
 */
async function replayWithKill(
  deadLetters: DeadLetters,
  place: WorkerPlace,
  runs: () => Promise<readonly string[]>,
): Promise<void> {
  await fill(deadLetters);
  const killed = await startOperator(place, receiver);
  const { ask } = await startOperator(place, receiver);
  const seen: OperatorResult[] = [];
  const ended = untilKilled(killed.ask, seen);
  await until('some events were handled', async () => (await runs()).length > 30);
  const going = resultsOf(ask, REPLAY);
  await until('a third was handled', async () => (await runs()).length > 70);
  killed.kill('SIGKILL');
  await Promise.all([killed.exit, ended]);
  seen.push(...(await going));
  const listed = (await readAll(deadLetters.list())).map(({ id }) => id);
  const ran = new Set(await runs());
  expect(ids.filter((id) => !ran.has(id) && !listed.includes(id))).toEqual([]);
  expect(seen.filter(({ id, outcome }) => outcome === 'processed' && listed.includes(id))).toEqual([]);
  await until('nothing is left of the run of the killed process', async () => {
    await resultsOf(ask, REPLAY);
    return (await readAll(deadLetters.list())).length === 0;
  });
}

describe('two operators who replay one selection, of whom one is killed, lose nothing', () => {
  const database = useDatabase();
  const fixture = useRedis();
  beforeAll(() => createLedger(database.connect()));

  test('and run each event exactly once, on PostgreSQL with an inbox', async () => {
    const scope = randomUUID();
    const deadLetters = createPostgresDeadLetters(database.connect(), { scope, ...ampleTime });
    const runs = async (): Promise<readonly string[]> => {
      const rows = await database.sql('select event_id from ledger order by event_id');
      return rows === '' ? [] : rows.split('\n');
    };
    const place = { STORE: 'postgres', PLACE: database.url(), SCOPE: scope } as const;
    await replayWithKill(deadLetters, place, runs);
    expect(await runs()).toEqual(ids);
  });

  test('and run at most the one that was cut off twice, on Redis', async () => {
    const scope = randomUUID();
    const log = createLog();
    const deadLetters = createRedisDeadLetters(await fixture.connect(), { scope, ...ampleTime });
    const place = { STORE: 'redis', PLACE: String(fixture.redis.port), SCOPE: scope, LOG: log.path } as const;
    await replayWithKill(deadLetters, place, async () => log.lines());
    expect([...new Set(log.lines())]).toEqual(ids);
    expect(log.lines().length).toBeLessThanOrEqual(ids.length + 1);
  });
});
