import type { Report, Rerun, WebhookEvent } from 'posthorn';
import type { RankedKey } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { handledEntry } from '../../../support/handled-entry.ts';
import type { DirectEndpoint } from '../../../support/open-endpoint.ts';

/** What the handler `book` does after it has booked an event. */
export type Work = (event: WebhookEvent, rerun: Rerun | undefined) => void;

/** An inbox whose handler `book` books each event. */
export interface BookingInbox {
  /** A receiver with a store of its own, which knows nothing. The handler has {@link latestOf}. */
  readonly open: (work?: Work) => DirectEndpoint;
  readonly bookings: (event: WebhookEvent) => number | Promise<number>;
  /** The handlers that have a record of an event. */
  readonly recordsOf: (event: WebhookEvent) => unknown[] | Promise<unknown[]>;
  /** The names of the reruns of an event that have a record. */
  readonly rerunsOf: (event: WebhookEvent) => unknown[] | Promise<unknown[]>;
  /** Deletes the records of an event, as `prune` does. */
  readonly forget: (event: WebhookEvent) => unknown;
}

/** The option `latest` of the handler. */
export function latestOf({ data }: WebhookEvent): RankedKey {
  return { key: data.id, rank: Number(data.rank ?? 0) };
}

/** Runs the handler `book` once more for an event that it has handled. */
export const rerunBook = (
  { receiver }: Pick<DirectEndpoint, 'receiver'>,
  event: WebhookEvent,
  run: string,
): Promise<Report> => receiver.rerun(handledEntry(event), { handlers: ['book'], run });

/** What is left of an event: how often it was booked, its records, and those of its reruns. */
export async function tracesOf(
  inbox: BookingInbox,
  event: WebhookEvent,
): Promise<[number, unknown[], unknown[]]> {
  return [await inbox.bookings(event), await inbox.recordsOf(event), await inbox.rerunsOf(event)];
}

/** Sends an event to a receiver, which handles it. */
export async function handled(
  inbox: BookingInbox,
  event: WebhookEvent = createEvent('transfer.succeeded'),
): Promise<WebhookEvent> {
  const { send } = inbox.open();
  expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
  return event;
}

/** The report of a rerun that has run. */
export const done = { outcome: 'processed', handlers: [{ name: 'book', ok: true }] };

/** The report of one that the inbox has a record of. */
export const doneBefore = { outcome: 'duplicate', handlers: [{ name: 'book', skipped: 'handled_before' }] };
const superseded = { outcome: 'processed', handlers: [{ name: 'book', skipped: 'superseded' }] };

/** An event of the transfer `id`, created this many seconds ago. */
function eventOf(id: string, secondsAgo: number, rank?: number): WebhookEvent {
  const created_at = new Date(Date.now() - secondsAgo * 1_000).toISOString();
  return { ...createEvent('transfer.updated', { id, rank }), created_at };
}

/** What every inbox promises of reruns. */
export function testReruns(inbox: BookingInbox): void {
  const { forget, open } = inbox;
  const notRun: Work = () => expect.unreachable();

  test('runs the handler once under a name, whatever the store has forgotten', async () => {
    const event = await handled(inbox);
    const seen: unknown[] = [];
    const report = await rerunBook(
      open((_event, rerun) => seen.push(rerun)),
      event,
      'fix',
    );
    expect(report).toMatchObject(done);
    expect(report.handlers[0]?.skipped).toBeUndefined();
    expect(seen).toEqual([{ run: 'fix' }]);
    expect(await rerunBook(open(notRun), event, 'fix')).toMatchObject(doneBefore);
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
  });

  test('keeps each name: A, B, and A again does not run', async () => {
    const event = await handled(inbox);
    for (const run of ['A', 'B']) expect(await rerunBook(open(), event, run)).toMatchObject(done);
    for (const run of ['A', 'B']) expect(await rerunBook(open(notRun), event, run)).toMatchObject(doneBefore);
    expect(await tracesOf(inbox, event)).toEqual([3, ['book'], ['A', 'B']]);
  });

  test('leaves no row of a handler that fails, so the same rerun runs again', async () => {
    const event = await handled(inbox);
    const failing = open(() => {
      throw new Error('no');
    });
    expect(await rerunBook(failing, event, 'fix')).toMatchObject({
      outcome: 'failed',
      code: 'handler_failed',
    });
    expect(await tracesOf(inbox, event)).toEqual([1, ['book'], []]);
    // The same receiver: its store does not take the failed rerun for a completed one either.
    expect(await rerunBook(failing, event, 'fix')).toMatchObject({ outcome: 'failed' });
    expect(await rerunBook(open(), event, 'fix')).toMatchObject(done);
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
  });

  test('writes the record of the event if it is missing, and a delivery finds it', async () => {
    const event = await handled(inbox);
    await forget(event);
    expect(await rerunBook(open(), event, 'fix')).toMatchObject(done);
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
    const { send, reports } = open(notRun);
    expect((await send(event)).status).toBe(200);
    expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
  });

  test('leaves the record of the event missing if its handler fails: a delivery runs it', async () => {
    const event = await handled(inbox);
    await forget(event);
    const failing = open(() => {
      throw new Error('no');
    });
    expect(await rerunBook(failing, event, 'fix')).toMatchObject({ outcome: 'failed' });
    expect(await tracesOf(inbox, event)).toEqual([1, [], []]);
    await handled(inbox, event);
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], []]);
  });

  test('keeps the names of other events apart', async () => {
    const [one, other] = [await handled(inbox), await handled(inbox)];
    for (const event of [one, other]) expect(await rerunBook(open(), event, 'fix')).toMatchObject(done);
    for (const event of [one, other]) expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
  });

  test('takes every name as it is', async () => {
    const event = await handled(inbox);
    const names = ['x'.repeat(100), `'); drop table ledger; --`, '$1 ? \\', '\n', '\u{1f4da}é'];
    for (const run of names) expect(await rerunBook(open(), event, run)).toMatchObject(done);
    for (const run of names) expect(await rerunBook(open(notRun), event, run)).toMatchObject(doneBefore);
  });

  test('skips an event that is superseded, says so, and records it', async () => {
    const [older, newer] = [eventOf('TR1', 60), eventOf('TR1', 30)];
    for (const event of [older, newer]) await handled(inbox, event);
    expect(await rerunBook(open(notRun), older, 'fix')).toMatchObject(superseded);
    expect(await tracesOf(inbox, older)).toEqual([1, ['book'], ['fix']]);
    expect(await rerunBook(open(notRun), older, 'fix')).toMatchObject(doneBefore);
    expect(await rerunBook(open(), newer, 'fix')).toMatchObject(done);
    expect(await tracesOf(inbox, newer)).toEqual([2, ['book'], ['fix']]);
  });

  test('compares events of one instant by their rank', async () => {
    const first = eventOf('TR2', 60, 1);
    const second = { ...eventOf('TR2', 60, 2), created_at: first.created_at };
    for (const event of [first, second]) await handled(inbox, event);
    expect(await rerunBook(open(notRun), first, 'fix')).toMatchObject(superseded);
    expect(await rerunBook(open(), second, 'fix')).toMatchObject(done);
  });

  test('of a pruned record makes its event the newest of a key that has none', async () => {
    const [older, newer] = [eventOf('TR3', 60), eventOf('TR3', 30)];
    expect(await rerunBook(open(), newer, 'fix')).toMatchObject(done);
    const { send, reports } = open(notRun);
    expect((await send(older)).status).toBe(200);
    expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'superseded' }]);
  });

  test('is told by the store that remembers it, without the inbox', async () => {
    const event = await handled(inbox);
    const endpoint = open();
    expect(await rerunBook(endpoint, event, 'fix')).toMatchObject(done);
    expect(await rerunBook(endpoint, event, 'fix')).toMatchObject({ outcome: 'duplicate', handlers: [] });
  });
}
