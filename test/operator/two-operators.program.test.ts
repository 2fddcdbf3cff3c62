import { randomUUID } from 'node:crypto';
import type { DeadLetters } from 'posthorn';
import { createPostgresDeadLetters } from 'posthorn/postgres';
import { createRedisDeadLetters } from 'posthorn/redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { createLedger } from '../stores/postgres/ledger.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { ampleDeadlines, ampleTime } from '../support/limits.ts';
import { readAll } from '../support/read-all.ts';
import { resultsOf } from './to-the-end.ts';
import { createLog, fill, ids, startOperator, type WorkerPlace } from './workers.ts';

/** Replays all by two processes at once, and proves that the answers of both account for each. */
async function replayByTwo(deadLetters: DeadLetters, place: WorkerPlace): Promise<void> {
  await fill(deadLetters);
  const operators = [await startOperator(place, ampleDeadlines), await startOperator(place, ampleDeadlines)];
  const results = await Promise.all(operators.map(({ ask }) => resultsOf(ask, '/api/dead-letters/replay')));
  expect(await readAll(deadLetters.list())).toEqual([]);
  const both = results.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const processed = both.filter(({ outcome }) => outcome === 'processed');
  expect(processed.map(({ id }) => id)).toEqual(ids);
  // Whoever comes to an event while the other runs it, or later, is told so.
  const known = ['processed', 'busy', 'duplicate', 'missing'];
  expect(both.filter(({ outcome }) => !known.includes(outcome))).toEqual([]);
}

describe('two operators who replay one selection at once', () => {
  const database = useDatabase();
  const fixture = useRedis();
  beforeAll(() => createLedger(database.connect()));

  test('run each event once, on PostgreSQL', async () => {
    const scope = randomUUID();
    const log = createLog();
    const deadLetters = createPostgresDeadLetters(database.connect(), { scope, ...ampleTime });
    await replayByTwo(deadLetters, {
      STORE: 'postgres',
      PLACE: database.url(),
      SCOPE: scope,
      LOG: log.path,
    });
    expect(log.lines()).toEqual(ids);
  });

  test('run each event once, on PostgreSQL with an inbox', async () => {
    const scope = randomUUID();
    const deadLetters = createPostgresDeadLetters(database.connect(), { scope, ...ampleTime });
    await replayByTwo(deadLetters, { STORE: 'postgres', PLACE: database.url(), SCOPE: scope });
    expect((await database.sql('select event_id from ledger order by 1')).split('\n')).toEqual(ids);
  });

  test('run each event once, on Redis', async () => {
    const scope = randomUUID();
    const log = createLog();
    const deadLetters = createRedisDeadLetters(await fixture.connect(), { scope, ...ampleTime });
    const place = String(fixture.redis.port);
    await replayByTwo(deadLetters, { STORE: 'redis', PLACE: place, SCOPE: scope, LOG: log.path });
    expect(log.lines()).toEqual(ids);
  });
});
