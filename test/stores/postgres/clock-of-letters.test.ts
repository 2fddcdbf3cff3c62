import { createPostgresDeadLetters, type PostgresClient, type PostgresPool } from 'posthorn/postgres';
import { expect, test } from 'vitest';

const HOUR_MS = 3_600_000;

/**
 * A pool of one client, whose server is an hour behind. Adds the time limit of each statement to `latest`.
 */
function openPool(latest: unknown[]): PostgresPool {
  let isTaken = false;
  const waiting: (() => void)[] = [];
  const client: PostgresClient = {
    query: async (statement) => {
      if (typeof statement !== 'string') latest.push(statement.values?.[0]);
      const row = { now: `${Date.now() - HOUR_MS}`, late: 'false', found: 'true' };
      return { command: 'SELECT', rowCount: 1, rows: [row] };
    },
    on: () => {},
    removeListener: () => {},
    release: () => setImmediate(() => waiting.shift()?.()),
  };
  return {
    totalCount: 1,
    connect(callback) {
      if (isTaken) waiting.push(() => callback(undefined, client));
      else callback(undefined, client);
      isTaken = true;
    },
  };
}

test('a letter that waits for a client is late by the time that an answer has brought meanwhile', async () => {
  const latest: unknown[] = [];
  const deadLetters = createPostgresDeadLetters(openPool(latest), { scope: 'clock' });
  await Promise.all([deadLetters.remove('1'), deadLetters.remove('2')]);

  const [first, second] = latest.map(Number);
  expect(first).toBeGreaterThan(Date.now());
  expect(second).toBeLessThan(Date.now() - HOUR_MS / 2);
});
