import { createPostgresDeadLetters } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { readAll } from '../support/read-all.ts';
import { usePostgres } from './fixture.ts';

describe('dead letters in PostgreSQL', () => {
  const fixture = usePostgres();

  test('survive a restart of the server, removals too', async () => {
    const { connect, postgres } = fixture;
    const deadLetters = createPostgresDeadLetters(connect(), { scope: 'restarted' });
    for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
    await deadLetters.remove('2');
    await postgres.stop('kill');
    await expect(deadLetters.get('1')).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    await postgres.restart();
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['1', '3']);
    expect((await readAll(deadLetters.list({ after: '2' }))).map(({ id }) => id)).toEqual(['3']);
  });
});
