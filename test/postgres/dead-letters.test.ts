import { randomUUID } from 'node:crypto';
import {
  createPostgresDeadLetters,
  createPostgresStore,
  migratePostgres,
  type PostgresPool,
} from 'posthorn/postgres';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLetter, deadLettersConformance } from '../dead-letters/conformance.ts';
import { type ScopeOnServer, serverDeadLettersConformance } from '../dead-letters/server-conformance.ts';
import { readAll } from '../support/read-all.ts';
import { usePostgres } from './fixture.ts';
import { isPostgresInstalled } from './installed.ts';

describe.skipIf(!isPostgresInstalled())('dead letters in PostgreSQL', () => {
  const fixture = usePostgres();
  let client: PostgresPool;

  beforeAll(() => {
    client = fixture.connect();
  });

  for (const { name, check } of deadLettersConformance)
    test(name, () => check(createPostgresDeadLetters(client, { scope: randomUUID() })));

  const open = (scope: string): ScopeOnServer => ({
    deadLetters: createPostgresDeadLetters(client, { scope }),
    store: createPostgresStore(client, { scope }),
  });
  for (const { name, check } of serverDeadLettersConformance) test(name, () => check(open));

  test('survive a restart of the server, removals too', async () => {
    const server = await fixture.servers.single();
    const pool = fixture.connect({ port: server.port });
    await migratePostgres(pool);
    const deadLetters = createPostgresDeadLetters(pool, { scope: 'restarted' });
    for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
    await deadLetters.remove('2');
    await server.stop('kill');
    await expect(deadLetters.get('1')).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    await server.restart();
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['1', '3']);
    expect((await readAll(deadLetters.list({ after: '2' }))).map(({ id }) => id)).toEqual(['3']);
  });

  test('that were removed over a day ago leave nothing behind', async () => {
    const { put, remove } = createPostgresDeadLetters(client, { scope: 'forgotten' });
    for (const id of ['1', '2', '3']) await put(createLetter({ id }));
    for (const id of ['1', '2']) await remove(id);
    const keys =
      "select string_agg(key, ' ' order by key) from posthorn.dead_letters where scope = 'forgotten'";
    expect(fixture.postgres.sql(keys)).toBe('1 2 3');
    fixture.postgres.sql("update posthorn.dead_letters set removed_at = removed_at - interval '25 hours'");
    await remove('3');
    expect(fixture.postgres.sql(keys)).toBe('3');
  });
});
