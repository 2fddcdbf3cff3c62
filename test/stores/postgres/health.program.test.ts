import { createReceiver } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './fixture.ts';

const scope = 'health';

describe('health of a receiver with its store in PostgreSQL', () => {
  const fixture = useDatabase();

  test('writes nothing, and counts the letters', async () => {
    const pool = fixture.connect();
    const store = createPostgresStore(pool, { scope });
    const deadLetters = createPostgresDeadLetters(pool, { scope });
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters });
    await expect
      .poll(() => receiver.health())
      .toMatchObject({
        store: { ok: true },
        deadLetters: { ok: true, waiting: 0, more: false },
      });
    expect(await fixture.sql('select count(*) from posthorn.events')).toBe('0');
  });

  test('a pool of which others keep all clients is a store that does not answer', async () => {
    const pool = fixture.connect({ max: 1 });
    const receiver = createReceiver({ signingKey: KEY, store: createPostgresStore(pool, { scope }) });
    const client = await pool.connect();
    expect(await receiver.health()).toHaveProperty('store.ok', false);
    client.release();
    await until('there is a client again', async () => (await receiver.health()).store.ok);
  });
});
