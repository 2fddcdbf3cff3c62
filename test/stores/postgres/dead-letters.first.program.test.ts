import { randomBytes, randomUUID } from 'node:crypto';
import { createPostgresDeadLetters } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { letterStatements } from '../../../src/stores/postgres/dead-letters/statements.ts';
import { ampleTime } from '../../support/limits.ts';
import { createLetter } from '../kit/conformance.ts';
import { testDeadLetters } from './conformance.ts';
import { useDatabase } from './fixture.ts';

describe('dead letters in PostgreSQL', () => {
  const fixture = useDatabase();
  const client = fixture.connect();

  testDeadLetters(client);

  test('are summed up without reading their bodies', async () => {
    const { put } = createPostgresDeadLetters(client, { scope: 'long', ...ampleTime });
    for (const id of ['1', '2']) await put(createLetter({ id, rawBody: randomBytes(8 * 1_048_576) }));
    const blocksOf = async (statement: string, values: readonly unknown[]): Promise<number> => {
      const explain = `explain (analyze, buffers, format json) ${statement}`;
      const { rows } = await client.query(explain, [...values]);
      const { Plan } = rows[0]['QUERY PLAN'][0];
      return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    };
    const whole = "select md5(letter) from posthorn.dead_letters where scope = 'long'";
    expect(await blocksOf(whole, [])).toBeGreaterThan(2_000);
    const { heads } = letterStatements('posthorn', 5_000);
    expect(await blocksOf(heads, [Date.now() + 60_000, 'long', '', null, null, 10])).toBeLessThan(100);
  });

  test('that were removed over a day ago leave nothing behind', async () => {
    const { put, remove } = createPostgresDeadLetters(client, { scope: 'forgotten', ...ampleTime });
    for (const id of ['1', '2', '3']) await put(createLetter({ id }));
    for (const id of ['1', '2']) await remove(id);
    const keys =
      "select string_agg(key, ' ' order by key) from posthorn.dead_letters where scope = 'forgotten'";
    expect(await fixture.sql(keys)).toBe('1 2 3');
    await fixture.sql(
      "update posthorn.dead_letters set removed_at = removed_at - interval '25 hours' where scope = 'forgotten'",
    );
    await remove('3');
    expect(await fixture.sql(keys)).toBe('3');
  });

  /** Refuses to write and to remove letters of the scope, as many times as it is told. */
  const refuse = async (scope: string, times: number, state: string): Promise<void> => {
    // What a sequence has counted stays counted when its transaction is rolled back.
    await fixture.sql(`
      create sequence "${scope}";
      create function "${scope}"() returns trigger language plpgsql as $function$ begin
        if new.scope = '${scope}' and nextval('"${scope}"') <= ${times} then raise sqlstate '${state}'; end if;
        return new;
      end $function$;
      create trigger "${scope}" before insert or update on posthorn.dead_letters
      for each row execute function "${scope}"()`);
  };
  const triesOf = (scope: string): Promise<string> => fixture.sql(`select last_value from "${scope}"`);

  describe.each(['40001', '40P01', '55P03'])(
    'that PostgreSQL refuses with %s, for the sake of others',
    (state) => {
      test('are written, and removed, at the fifth try', async () => {
        const scope = randomUUID();
        await refuse(scope, 4, state);
        const deadLetters = createPostgresDeadLetters(client, { scope, ...ampleTime });
        await deadLetters.put(createLetter({ id: '1' }));
        expect([(await deadLetters.get('1'))?.id, await triesOf(scope)]).toEqual(['1', '5']);
        await fixture.sql(`alter sequence "${scope}" restart`);
        expect(await deadLetters.remove('1')).toBe(true);
        expect([await deadLetters.get('1'), await triesOf(scope)]).toEqual([undefined, '5']);
      });

      test('fail after the fifth', async () => {
        const scope = randomUUID();
        await refuse(scope, 100, state);
        await expect(
          createPostgresDeadLetters(client, { scope, ...ampleTime }).put(createLetter({ id: '1' })),
        ).rejects.toMatchObject({ code: 'dead_letters_unavailable', cause: { code: state } });
        expect(await triesOf(scope)).toBe('5');
      });
    },
  );

  test('that PostgreSQL refuses for another reason are not tried again', async () => {
    const scope = randomUUID();
    await refuse(scope, 100, '23514');
    const { put } = createPostgresDeadLetters(client, { scope, ...ampleTime });
    await expect(put(createLetter({ id: '1' }))).rejects.toMatchObject({ cause: { code: '23514' } });
    expect(await triesOf(scope)).toBe('1');
  });
});
