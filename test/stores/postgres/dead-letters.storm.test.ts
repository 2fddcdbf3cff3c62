import { createPostgresDeadLetters } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter, deadLettersConformance } from '../kit/conformance.ts';
import { usePostgres } from './fixture.ts';
import { LONG_CASE } from './long-case.ts';

describe('dead letters in PostgreSQL', () => {
  const fixture = usePostgres();

  for (const { name, check } of deadLettersConformance.filter(({ name }) => name === LONG_CASE)) {
    test(name, () => check(createPostgresDeadLetters(fixture.connect(), { scope: 'long', ...ampleTime })));
  }

  test('survive a restart of the server, removals too', async () => {
    const { connect, postgres } = fixture;
    const deadLetters = createPostgresDeadLetters(connect(), { scope: 'restarted', ...ampleTime });
    for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
    await deadLetters.remove('2');
    await postgres.stop('kill');
    await expect(deadLetters.get('1')).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    await postgres.restart();
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['1', '3']);
    expect((await readAll(deadLetters.list({ after: '2' }))).map(({ id }) => id)).toEqual(['3']);
  });
});
