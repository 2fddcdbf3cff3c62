import { createReceiver, type Receiver } from 'posthorn';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { KEY } from '../../support/served.ts';
import { useDatabase } from './fixture.ts';

const LATER_MS = 30 * 3_600_000;

describe('an accept of an event that only the inbox in PostgreSQL remembers', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  const runs: string[] = [];

  /** A receiver with a store of its own, and these handlers. */
  function open(scope: string, names: readonly string[], now = Date.now): Receiver {
    const inbox = createPostgresInbox(pool, { scope });
    const receiver = createReceiver({ signingKey: KEY, now, ...ampleDeadlines }).observe(() => {});
    for (const name of names)
      receiver.on(
        '*',
        inbox.once(name, async () => void runs.push(name)),
      );
    return closedAtEnd(receiver);
  }

  const later = (): number => Date.now() + LATER_MS;
  const event = createEvent('transfer.succeeded');
  const options = { source: 'a test' };

  test.each([
    { scope: 'both', handled: ['book', 'mail'], answer: { outcome: 'duplicate' }, ran: [] },
    { scope: 'one', handled: ['book'], answer: { code: 'event_too_old' }, ran: ['mail'] },
    { scope: 'other', handled: ['mail'], answer: { code: 'event_too_old' }, ran: ['book'] },
  ])('by records of $handled', async ({ scope, handled, answer, ran }) => {
    expect(await open(scope, handled).accept(event, options)).toMatchObject({ outcome: 'processed' });
    runs.length = 0;
    const receiver = open(scope, ['book', 'mail'], later);
    expect(await receiver.accept(event, options)).toMatchObject(answer);
    await receiver.accept(event, { ...options, allowForgotten: true });
    expect(runs).toEqual(ran);
  });

  test('is failed, not refused, if the tables are missing', async () => {
    const inbox = createPostgresInbox(pool, { scope: 'away', schema: 'nowhere' });
    const receiver = createReceiver({ signingKey: KEY, now: later, ...ampleDeadlines });
    receiver
      .on(
        '*',
        inbox.once('book', () => {}),
      )
      .observe(() => {});
    expect(await closedAtEnd(receiver).accept(event, options)).toMatchObject({
      outcome: 'failed',
      code: 'store_unavailable',
    });
  });
});
