import { createReceiver, type Receiver } from 'posthorn';
import { createSqliteInbox } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { KEY } from '../../support/served.ts';
import type { Connection } from './connection.ts';
import { openDatabase } from './driver.ts';
import { useSqlite } from './fixture.ts';

const LATER_MS = 30 * 3_600_000;

describe('an accept of an event that only the inbox in SQLite remembers', () => {
  const fixture = useSqlite(openDatabase);
  const runs: string[] = [];
  let database: Connection;
  beforeEach(async () => {
    runs.length = 0;
    database = await fixture.openMigrated();
  });

  /** A receiver with a store of its own, and these handlers. */
  function open(names: readonly string[], now = Date.now): Receiver {
    const inbox = createSqliteInbox(database, { scope: 'accept-test' });
    const receiver = createReceiver({ signingKey: KEY, now }).observe(() => {});
    for (const name of names)
      receiver.on(
        '*',
        inbox.once(name, () => void runs.push(name)),
      );
    return closedAtEnd(receiver);
  }

  const later = (): number => Date.now() + LATER_MS;
  const event = createEvent('transfer.succeeded');
  const options = { source: 'a test' };

  test.each([
    { handled: ['book', 'mail'], answer: { outcome: 'duplicate' }, ran: [] },
    { handled: ['book'], answer: { outcome: 'rejected', code: 'event_too_old' }, ran: ['mail'] },
    { handled: ['mail'], answer: { outcome: 'rejected', code: 'event_too_old' }, ran: ['book'] },
  ])('by records of $handled is $answer.outcome', async ({ handled, answer, ran }) => {
    expect(await open(handled).accept(event, options)).toMatchObject({ outcome: 'processed' });
    runs.length = 0;
    const receiver = open(['book', 'mail'], later);
    expect(await receiver.accept(event, options)).toMatchObject(answer);
    await receiver.accept(event, { ...options, allowForgotten: true });
    expect(runs).toEqual(ran);
  });

  test('is failed, not refused, if the file cannot be read', async () => {
    const receiver = open(['book'], later);
    database.exec('drop table posthorn_inbox');
    expect(await receiver.accept(event, options)).toMatchObject({
      outcome: 'failed',
      code: 'store_unavailable',
      error: {
        message: expect.stringContaining('an inbox did not say whether it has a record of the event'),
      },
    });
  });
});
