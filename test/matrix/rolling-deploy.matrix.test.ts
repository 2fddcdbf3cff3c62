import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { DeadLetters } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonLines, posthorn } from '../cli/posthorn.ts';
import { runFastClock } from '../queues/bullmq/fast-clock.ts';
import { openQueue } from '../queues/bullmq/queue-fixture.ts';
import { Deploy, endedIn, repeatedIn } from '../stored-forms/deploy.ts';
import { loadFormer, testNeighbours } from '../stored-forms/neighbours.ts';
import { APPLICATION_TABLES, SCOPE } from '../stored-forms/record.ts';
import { rollReceivers, SOME } from '../stored-forms/roll-receivers.ts';
import { buildCommit, today, type Version } from '../stored-forms/version.ts';
import { useDatabase, usePostgres } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { ampleTime } from '../support/limits.ts';
import { until } from '../support/until.ts';

/** Version 0.2.0, the minor version before that of today. */
const FORMER_COMMIT = 'ebcecc7';

let former: Version;

beforeAll(() => {
  former = buildCommit(FORMER_COMMIT);
});

afterAll(() => former.remove());

/** The scope of the letters, and the environment by which the program `posthorn` finds them. */
interface Place {
  readonly scope: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Each event was handled, or its letter is there; and none ran again after it had been completed. Resolves
 * with the ids of the letters.
 */
async function checkEvents(deploy: Deploy, deadLetters: DeadLetters, place: Place): Promise<string[]> {
  const notes = deploy.notes();
  const parked: string[] = [];
  for await (const { id } of deadLetters.list()) parked.push(id);
  const kept = new Set([...endedIn(notes), ...parked]);
  process.stdout.write(
    `rolling deploy: ${JSON.stringify({ events: deploy.events.length, parked: parked.length, ...deploy.counts })}\n`,
  );
  expect(deploy.events.map(({ id }) => id).filter((id) => !kept.has(id))).toEqual([]);
  expect(repeatedIn(deploy.notesWithoutDropsOf(former))).toEqual([]);
  expect(parked.length).toBeGreaterThan(0);
  // A team that goes back sees the letters that today's code has written, too.
  const args = ['dead-letters', 'list', '--scope', place.scope, '--json'];
  const program = join(former.root, 'dist', 'src', 'cli', 'bin.js');
  const listed = jsonLines(await posthorn(args, { program, env: place.env }));
  expect(listed.flatMap(({ kind, id }) => (kind === 'letter' ? [id] : []))).toEqual(parked);
  return parked;
}

describe('a store of version 0.2.0 and one of today on one Redis', () => {
  const fixture = useRedis();

  const open = async () => {
    const redis = fixture.keep(new Redis({ port: fixture.redis.port }));
    await redis.flushall();
    const options = { scope: SCOPE, ...ampleTime };
    const { createRedisStore: createFormer } = await loadFormer(former, 'redis');
    return { former: createFormer(redis, options), today: createRedisStore(redis, options) };
  };
  testNeighbours(open, { abandoned: 1, late: 'busy' });
});

describe('a store of version 0.2.0 and one of today on one PostgreSQL', () => {
  const { connect } = useDatabase();

  const open = async () => {
    const pool = connect();
    await pool.query('truncate posthorn.events');
    const options = { scope: SCOPE, ...ampleTime };
    const { createPostgresStore: createFormer } = await loadFormer(former, 'postgres');
    return { former: createFormer(pool, options), today: createPostgresStore(pool, options) };
  };
  // Both run the functions of the last migration.
  testNeighbours(open, { abandoned: 0, late: 'busy' });
});

test('a version whose commit is missing is not passed over', () => {
  expect(() => buildCommit('0000000')).toThrow(/0000000 is not in this clone.* run "git fetch --unshallow"/);
});

describe('a deploy that replaces version 0.2.0 process by process', () => {
  const redisFixture = useRedis();
  const postgresFixture = usePostgres();

  /** A database without tables: the former version makes its own, and today's migrates them meanwhile. */
  const createDatabase = (database: string) => {
    const { postgres, connect } = postgresFixture;
    postgres.sql(`create database ${database}`);
    postgres.sql(APPLICATION_TABLES, database);
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/${database}`;
    return { pool: connect({ database }), url };
  };

  test('loses and repeats nothing on one Redis', async () => {
    const redis = redisFixture.keep(new Redis({ port: redisFixture.redis.port }));
    const deploy = new Deploy(
      { store: 'redis', scope: SCOPE, redisPort: redisFixture.redis.port },
      { type: 'transfer.updated' },
    );
    await rollReceivers(deploy, former);
    const env = { REDIS_URL: `redis://127.0.0.1:${redisFixture.redis.port}` };
    await checkEvents(deploy, createRedisDeadLetters(redis, { scope: SCOPE }), { scope: SCOPE, env });
  });

  test('loses and repeats nothing on one PostgreSQL, and books each event once', async () => {
    const { pool, url } = createDatabase('booked');
    const deploy = new Deploy(
      { store: 'postgres', scope: SCOPE, postgresUrl: url },
      { type: 'transfer.updated' },
    );
    await rollReceivers(deploy, former);
    const deadLetters = createPostgresDeadLetters(pool, { scope: SCOPE });
    const parked = await checkEvents(deploy, deadLetters, { scope: SCOPE, env: { POSTGRES_URL: url } });
    const { rows } = await pool.query(
      'select event_id as id, count(*)::int as count from ledger group by event_id',
    );
    const isBooked = (id: string) => !parked.includes(id) && !id.startsWith('evt_dropped');
    const booked = deploy.events.map(({ id }) => id).filter(isBooked);
    expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
    expect(rows.map(({ id }) => id).sort()).toEqual(booked.sort());
  });

  test('keeps the newest state of a resource on one PostgreSQL', async () => {
    const { pool, url } = createDatabase('states');
    const settings = { store: 'postgres', scope: 'states', postgresUrl: url } as const;
    const deploy = new Deploy(settings, { type: 'subscription.updated', data: { id: 'SUB1' } });
    await rollReceivers(deploy, former);
    const newest = deploy.events
      .map(({ body }) => JSON.parse(body).created_at)
      .sort()
      .at(-1);
    const { rows } = await pool.query('select created_at from states');
    expect(rows).toEqual([{ created_at: new Date(newest) }]);
  });

  test('loses and repeats nothing in one queue', async () => {
    const { redis } = redisFixture;
    const settings = { store: 'redis', scope: 'queued', redisPort: redis.port, hasQueue: true } as const;
    const deploy = new Deploy(settings, { type: 'dispute.updated' });
    const opened = await openQueue(redisFixture, redis, 'queued');
    await runFastClock(opened, redisFixture, redis);
    const workers = [await deploy.start(former, 'worker'), await deploy.start(former, 'worker')];
    workers.push(await deploy.start(today, 'worker'));
    const rolled = rollReceivers(deploy, former);
    for (const worker of workers.slice(0, 2)) {
      await deploy.deliveries(SOME);
      await deploy.end(worker, 'SIGKILL');
      await deploy.start(today, 'worker');
    }
    await rolled;
    await until(
      'the queue is empty',
      async () => {
        const { completed: _, ...counts } = await opened.bull.getJobCounts();
        return Object.values(counts).every((count) => count === 0);
      },
      60_000,
    );
    const client = redisFixture.keep(new Redis({ port: redis.port }));
    const env = { REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const deadLetters = createRedisDeadLetters(client, { scope: 'queued' });
    await checkEvents(deploy, deadLetters, { scope: 'queued', env });
  });
});
