import { execFileSync } from 'node:child_process';
import { createBullQueue } from 'posthorn/bullmq';
import { expect, onTestFinished, test } from 'vitest';
import { programPath } from '../../tools/programs.js';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { until } from '../support/until.ts';
import { printed, refusal } from './ended.ts';
import { jsonLines, posthorn } from './posthorn.ts';

const fixture = usePostgres();

async function createDatabase(database: string): Promise<string> {
  await fixture.sql(`create database ${database}`);
  return `postgres://postgres@127.0.0.1:${fixture.port}/${database}`;
}

/** The version of BullMQ's tables. */
async function versionIn(database: string): Promise<number> {
  const { rows } = await fixture
    .connect({ database })
    .query<{ version: number }>('select max(version) as version from bullmq.migration');
  return rows[0]?.version ?? 0;
}

test('postgres migrate makes no tables of a queue without --queue', async () => {
  const url = await createDatabase('without_queue');
  expect(await posthorn(['postgres', 'migrate', '--url', url])).toEqual(
    printed('created the tables of version 5 in the schema posthorn\n'),
  );
  const { rows } = await fixture
    .connect({ database: 'without_queue' })
    .query("select to_regnamespace('bullmq') as schema");
  expect(rows).toEqual([{ schema: null }]);
});

test('postgres migrate --queue makes both, and may be run again', async () => {
  const env = { POSTGRES_URL: await createDatabase('with_queue') };
  const migrate = (...more: readonly string[]) =>
    posthorn(['postgres', 'migrate', '--queue', ...more], { env });
  const first = await migrate();
  const version = await versionIn('with_queue');
  expect(version).toBeGreaterThan(0);
  expect(first).toEqual(
    printed(
      'created the tables of version 5 in the schema posthorn\n' +
        `created the tables of version ${version} in the schema bullmq\n`,
    ),
  );
  expect(await migrate()).toEqual(
    printed(
      'the tables in the schema posthorn are up to date, at version 5: nothing to do\n' +
        `the tables in the schema bullmq are up to date, at version ${version}: nothing to do\n`,
    ),
  );
  expect(jsonLines(await migrate('--json', '--schema', 'webhooks'))).toEqual([
    { schema: 'webhooks', previous: 0, version: 5 },
    { schema: 'bullmq', previous: version, version },
  ]);
});

test('several at once wait for each other', async () => {
  const url = await createDatabase('at_once');
  const migrate = () => posthorn(['postgres', 'migrate', '--queue', '--url', url]);
  const ended = await Promise.all([migrate(), migrate(), migrate()]);
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: '' }));
});

test('tables of a newer BullMQ, and a role that may not create the schema, are exit code 1', async () => {
  const url = await createDatabase('newer');
  const migrate = (address: string) => posthorn(['postgres', 'migrate', '--queue', '--url', address]);
  expect(await migrate(url)).toMatchObject({ code: 0 });
  await fixture.connect({ database: 'newer' }).query('update bullmq.migration set min_client_version = 99');
  expect(await migrate(url)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the schema posthorn are up to date'),
    stderr: expect.stringMatching(
      /^posthorn: the tables of the queue .* could not be migrated: .*BullMQ major version 99 or newer.* \(failed\)\n$/,
    ),
  });
  await fixture.sql('create role half login');
  const halfUrl = await createDatabase('half_migrated');
  await fixture.connect({ database: 'half_migrated' }).query('create schema posthorn authorization half');
  expect(await migrate(halfUrl.replace('postgres@', 'half@'))).toMatchObject({
    code: 1,
    stdout: 'created the tables of version 5 in the schema posthorn\n',
    stderr: expect.stringMatching(
      /could not be migrated: permission denied for database half_migrated \(failed\)\n$/,
    ),
  });
});

test('a connection that is lost while it migrates is exit code 3', async () => {
  const url = await createDatabase('lost');
  const holder = await fixture.connect({ database: 'lost' }).connect();
  onTestFinished(() => holder.release(true));
  // The lock of BullMQ's migrations.
  await holder.query(`select pg_advisory_lock(${0x42554c4c}, hashtext('bullmq'))`);
  const migrating = posthorn(['postgres', 'migrate', '--queue', '--url', url]);
  const waiting = "datname = 'lost' and wait_event_type = 'Lock' and query like '%advisory%'";
  await until('it waits for the lock', async () => {
    return (await fixture.sql(`select count(*) from pg_stat_activity where ${waiting}`)) === '1';
  });
  await fixture.sql(`select pg_terminate_backend(pid) from pg_stat_activity where ${waiting}`);
  expect(await migrating).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /^posthorn: the tables of the queue .* could not be migrated: .*\(queue_unavailable\)\n$/,
    ),
  });
});

test('postgres sql has no --queue, and pg_dump of migrated tables is a script of them', async () => {
  expect(await posthorn(['postgres', 'sql', '--queue'])).toMatchObject(
    refusal(2, expect.stringContaining("unknown option '--queue'")),
  );
  const url = await createDatabase('dumped');
  expect(await posthorn(['postgres', 'migrate', '--queue', '--url', url])).toMatchObject({ code: 0 });
  const flags = ['--no-owner', '--no-privileges', '--schema=bullmq', url];
  const script = execFileSync(programPath('pg_dump'), flags, { encoding: 'utf8' });
  await createDatabase('restored');
  fixture.postgres.sql(script.replace(/^\\(un)?restrict .*$/gm, ''), 'restored');
  expect(await versionIn('restored')).toBe(await versionIn('dumped'));
  const connection = fixture.connect({ database: 'restored', options: '-c search_path=bullmq' });
  const queue = closedAtEnd(createBullQueue({ backend: 'postgres', connection, scope: 'restored' }));
  await until('the queue is ready', () => queue.mustWait?.() === false);
});
