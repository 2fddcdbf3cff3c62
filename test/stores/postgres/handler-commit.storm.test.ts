import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from './fixture.ts';
import { COMMITS_AND_SLEEPS, testTexts, useReceivers } from './handler-commit.ts';
import { tracesOf } from './ledger.ts';

describe('a handler of an inbox', () => {
  const fixture = usePostgres({ max_prepared_transactions: '20' });
  const receivers = useReceivers(fixture);
  const { open } = receivers;

  testTexts(receivers, 'all');

  test('that sleeps after its own COMMIT has no record after a crash of the server either', async () => {
    const { pool, untilItSleeps } = receivers;
    const first = await open(({ query }) => query(COMMITS_AND_SLEEPS));
    const event = createEvent('transfer.succeeded');
    const running = first.send(event);
    await untilItSleeps();
    await fixture.postgres.stop('kill');
    expect((await running).status).toBe(500);
    await fixture.postgres.restart();
    expect(await tracesOf(pool, event)).toEqual([1, []]);
    const retry = await open(() => {});
    expect((await retry.send(event)).status).toBe(200);
    expect(retry.reports.all[0]?.handlers).toEqual([
      expect.not.objectContaining({ skipped: 'handled_before' }),
    ]);
  });
});
