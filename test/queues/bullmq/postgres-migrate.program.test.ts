import { ConfigurationError } from 'posthorn';
import { migrateBullQueue } from 'posthorn/bullmq';
import { expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';

const fixture = usePostgres();

let databases = 0;

/** The name of a new database, whose owner is this role. */
async function createDatabase(owner: string): Promise<string> {
  databases += 1;
  const database = `migrated_${databases}`;
  await fixture.sql(`create role ${owner} login`);
  await fixture.sql(`create database ${database} owner postgres`);
  return database;
}

const VERSIONS = 'select count(*), max(version) from bullmq.migration';

test('migrateBullQueue may run again, and several times at once', async () => {
  const pool = fixture.connect();
  await Promise.all(Array.from({ length: 4 }, () => migrateBullQueue(pool)));
  const before = await fixture.sql(VERSIONS);
  await migrateBullQueue(pool);
  expect(await fixture.sql(VERSIONS)).toBe(before);
});

test('a role that may create schemas migrates, and one that may not is told so', async () => {
  const database = await createDatabase('builder');
  const pool = fixture.connect({ database, user: 'builder' });
  const refused = await migrateBullQueue(pool).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigurationError);
  expect(refused).toHaveProperty(
    'message',
    expect.stringMatching(new RegExp(`could not be migrated: permission denied for database ${database}$`)),
  );
  await fixture.sql(`grant create on database ${database} to builder`);
  await migrateBullQueue(pool);
  expect(await pool.query(VERSIONS)).toMatchObject({ rowCount: 1 });
});

test('a role that has the schema already needs no right to create schemas', async () => {
  const database = await createDatabase('owner_of_schema');
  await fixture.connect({ database }).query('create schema bullmq authorization owner_of_schema');
  const pool = fixture.connect({ database, user: 'owner_of_schema' });
  await migrateBullQueue(pool);
  await migrateBullQueue(pool);
  expect(await pool.query(VERSIONS)).toMatchObject({ rowCount: 1 });
});

test('tables of a newer BullMQ are left alone, and the error names the versions', async () => {
  const database = await createDatabase('newer');
  const pool = fixture.connect({ database });
  await migrateBullQueue(pool);
  await pool.query('update bullmq.migration set min_client_version = 99');
  const refused = await migrateBullQueue(pool).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigurationError);
  expect(refused).toHaveProperty(
    'message',
    expect.stringMatching(/could not be migrated: .*requires BullMQ major version 99 or newer/),
  );
});
