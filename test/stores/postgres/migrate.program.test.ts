import { Client, Pool } from 'pg';
import { migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { freePort } from '../../support/free-port.ts';
import { ownParsers, useDatabase } from './fixture.ts';

const isolations = ['read committed', 'repeatable read', 'serializable'];
const TABLES = ['dead_letters', 'events', 'inbox', 'inbox_latest', 'inbox_reruns', 'journal', 'migrations'];

describe('migratePostgres', () => {
  const fixture = useDatabase();

  const tablesOf = async (schema: string): Promise<string[]> =>
    (await fixture.sql(`select tablename from pg_tables where schemaname = '${schema}' order by 1`)).split(
      '\n',
    );
  const versionsOf = (schema: string): Promise<string> =>
    fixture.sql(`select version from "${schema}".migrations order by 1`);

  test('creates the tables in the schema posthorn', async () => {
    expect(await tablesOf('posthorn')).toEqual(TABLES);
  });

  test.each(isolations)('creates them once, however many processes start at once: %s', async (isolation) => {
    const schema = `at-once-${isolation.replace(' ', '-')}`;
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
    const pool = fixture.connect({ options, ...ownParsers });
    await Promise.all(Array.from({ length: 8 }, () => migratePostgres(pool, { schema })));
    expect(await tablesOf(schema)).toEqual(TABLES);
    expect(await versionsOf(schema)).toBe('1\n2\n3\n4\n5');
  });

  test('leaves alone what a later version has made', async () => {
    const pool = fixture.connect();
    await migratePostgres(pool, { schema: 'later' });
    await fixture.sql('insert into later.migrations (version) values (1000)');
    await migratePostgres(pool, { schema: 'later' });
    expect(await versionsOf('later')).toBe('1\n2\n3\n4\n5\n1000');
  });

  test('makes all or nothing', async () => {
    await fixture.sql('create schema halfway; create table halfway.inbox (taken text)');
    await expect(migratePostgres(fixture.connect(), { schema: 'halfway' })).rejects.toMatchObject(
      errorOf('configuration_invalid', 'relation "inbox" already exists'),
    );
    expect(await tablesOf('halfway')).toEqual(['inbox']);
  });

  test('needs no right to create a schema that is there', async () => {
    const owner = `${fixture.database}_owner`;
    await fixture.sql(`create role ${owner} login; create schema own authorization ${owner}`);
    await migratePostgres(fixture.connect({ user: owner }), { schema: 'own' });
    expect(await tablesOf('own')).toEqual(TABLES);
  });

  test('says what PostgreSQL refused', async () => {
    const user = `${fixture.database}_nobody`;
    await fixture.sql(`create role ${user} login`);
    await expect(migratePostgres(fixture.connect({ user }), { schema: 'forbidden' })).rejects.toMatchObject({
      code: 'configuration_invalid',
      message:
        'the tables of posthorn in the schema "forbidden" could not be migrated: ' +
        `permission denied for database ${fixture.database}`,
    });
  });

  test('a client that failed to migrate has no transaction left open', async () => {
    const pool = fixture.connect({ max: 1 });
    await expect(migratePostgres(pool, { schema: 'halfway' })).rejects.toThrow('could not be migrated');
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test.each([
    [{ database: 'nowhere' }, 'database "nowhere" does not exist'],
    [{ user: 'stranger' }, 'role "stranger" does not exist'],
  ])('says that %j is wrong, rather than that PostgreSQL is away', async (options, reason) => {
    await expect(migratePostgres(fixture.connect(options))).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringMatching(`could not be migrated: ${reason}$`),
    });
  });

  test('says that PostgreSQL is not there', async () => {
    const port = await freePort();
    await expect(migratePostgres(fixture.connect({ port }))).rejects.toMatchObject(
      errorOf('store_unavailable', 'ECONNREFUSED'),
    );
  });
});

describe('the arguments of migratePostgres', () => {
  test.each(['', 'pg_own', '1a', 'a"b', 'a b', 'é', 'x'.repeat(64), null, 5])(
    'refuse %j as schema',
    async (schema) => {
      const pool = new Pool();
      await expect(Reflect.apply(migratePostgres, undefined, [pool, { schema }])).rejects.toMatchObject(
        errorOf('configuration_invalid', 'schema of migratePostgres must be 1 to 63 letters'),
      );
    },
  );

  test('refuse what is no pool, and an unknown option', async () => {
    for (const noPool of [undefined, {}, new Client()]) {
      await expect(Reflect.apply(migratePostgres, undefined, [noPool])).rejects.toThrow(
        'takes a pool of pg 8: new Pool(…)',
      );
    }
    await expect(
      Reflect.apply(migratePostgres, undefined, [new Pool(), { shema: 'posthorn' }]),
    ).rejects.toThrow('"shema" is not an option of migratePostgres; its options are schema');
  });
});
