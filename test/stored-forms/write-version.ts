import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { FIXTURES } from './fixtures.ts';
import { recordFiles, recordPostgres, recordRedis, writeFiles } from './record.ts';
import { recordSandbox } from './record-sandbox.ts';
import { buildCommit, today } from './version.ts';

const { VERSION = '', COMMIT } = process.env;
const redisFixture = useRedis();
const postgresFixture = usePostgres();

test('writes what a version stores', async () => {
  expect(VERSION, 'VERSION=<number> COMMIT=<commit, or nothing for the working tree>').toMatch(
    /^\d+\.\d+\.\d+$/,
  );
  const version = COMMIT === undefined ? today : buildCommit(COMMIT);
  // The first release had neither.
  const isFirst = VERSION === '0.1.0';
  const folder = join(FIXTURES, VERSION);
  rmSync(folder, { recursive: true, force: true });
  writeFiles(join(folder, 'letters'), await recordFiles(version, temporaryDirectory()));
  writeFiles(folder, [['sandbox.json', await recordSandbox(version)]]);
  if (!isFirst) {
    postgresFixture.postgres.sql('create database stored');
    const pool = postgresFixture.connect({ database: 'stored' });
    const url = `postgres://postgres@127.0.0.1:${postgresFixture.postgres.port}/stored`;
    writeFiles(folder, [['postgres.sql', await recordPostgres(version, pool, url)]]);
  }
  const redis = redisFixture.keep(new Redis({ port: redisFixture.redis.port }));
  writeFiles(folder, [['redis.json', await recordRedis(version, redis, !isFirst)]]);
  const recorded = { version: VERSION, commit: COMMIT ?? 'working tree', recordedAt: Date.now() };
  writeFileSync(join(folder, 'recorded.json'), `${JSON.stringify(recorded, undefined, 2)}\n`);
  version.remove();
});
