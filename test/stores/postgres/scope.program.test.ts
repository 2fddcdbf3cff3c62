import { ConfigurationError } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDatabase } from './fixture.ts';

const times = { token: 'a', leaseMs: 20_000, retentionMs: 60_000 };

describe('a scope in PostgreSQL', () => {
  const fixture = useDatabase();

  test('never answers for another, nor one schema for another', async () => {
    const pool = fixture.connect();
    await migratePostgres(pool, { schema: 'Other-1' });
    const scopes = ['a', 'a.b', 'ab', 'a-', 'A', 'a_'];
    for (const schema of ['posthorn', 'Other-1']) {
      for (const scope of scopes) {
        const store = createPostgresStore(pool, { scope, schema, ...ampleTime });
        for (const id of ['b:c', 'c', 'a:c', '']) {
          expect((await store.claim({ ...times, id })).state).toBe('claimed');
          await store.complete({ ...times, id });
        }
        const letters = createPostgresDeadLetters(pool, { scope, schema, ...ampleTime });
        expect(await letters.get('c')).toBeUndefined();
        await letters.put(createLetter({ id: 'c' }));
      }
    }
  });

  test('and a schema are checked', () => {
    const pool = fixture.connect();
    for (const create of [createPostgresStore, createPostgresDeadLetters]) {
      for (const scope of ['', 'a b', 'a:b', 'é', 'x'.repeat(65), undefined, 5]) {
        expect(() => Reflect.apply(create, undefined, [pool, { scope }])).toThrow(ConfigurationError);
      }
      for (const schema of ['', 'a"b', 'pg_a', 5]) {
        expect(() => Reflect.apply(create, undefined, [pool, { scope: 'a', schema }])).toThrow(
          /^schema of create/,
        );
      }
      expect(() => Reflect.apply(create, undefined, [{}, { scope: 'a' }])).toThrow(/takes a pool of pg 8/);
      expect(() => Reflect.apply(create, undefined, [pool, { scope: 'a', max: 1 }])).toThrow(
        /"max" is not an option/,
      );
    }
  });
});
