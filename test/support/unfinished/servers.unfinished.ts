import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { mayMount, useSmallDisk } from '../../stores/postgres/small-disk.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { packageRoot, startProgram } from '../child-program.ts';
import { startedBy } from '../started-by.ts';

// Started by test/support/left-behind.storm.test.ts. No test here ends what it has started.

const tell = (what: string): void => void process.stderr.write(`${what}\n`);

/** A program that does nothing until it is ended. */
function startIdle(): void {
  const program = startProgram(join(packageRoot, 'test/support/unfinished/idle.mjs'), {}, packageRoot);
  program.kill('SIGSTOP');
}

const redis = useRedis();
const postgres = usePostgres();

test('stops in the middle, with servers and programs that stand still', async () => {
  startIdle();
  // A client, so that there is a process of it that stands still.
  const client = await postgres.connect().connect();
  await client.query('select 1');
  if (mayMount()) await useSmallDisk(await postgres.servers.single());
  postgres.postgres.freeze();
  redis.redis.signal('SIGSTOP');
  tell(`stand still: ${startedBy(process.pid).join(' ')}`);
  if (process.env.END === 'hang') await new Promise(() => {});
  if (process.env.END === 'wait') execFileSync('sleep', ['600']);
  expect('the real failure').toBe('none');
});

test('finds the servers thawed', async () => {
  expect(redis.redis.command('ping')).toBe('PONG');
  expect(postgres.postgres.sql('select 1')).toBe('1');
  tell('thawed');
});
