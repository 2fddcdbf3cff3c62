import { createReceiver, type ReceiverOptions, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { KEY, serve } from '../redis/deliveries.ts';

const HOUR_MS = 3_600_000;
const MARGIN_MS = 10 * 60_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** How long the id of an event is kept. */
export interface RetentionCase {
  readonly name: string;
  readonly options: Partial<ReceiverOptions>;
  readonly ageMs: number;
  readonly keptMs: number;
}

export const retentionCases: readonly RetentionCase[] = [
  {
    name: 'for retentionMs, where events of any age are accepted',
    options: { maxEventAgeMs: Number.POSITIVE_INFINITY },
    ageMs: 3 * YEAR_MS,
    keptMs: HOUR_MS,
  },
  {
    name: 'until its event is too old to be accepted again, where that is later',
    options: { maxEventAgeMs: 3 * HOUR_MS },
    ageMs: 0,
    keptMs: 3 * HOUR_MS + MARGIN_MS,
  },
  {
    name: 'for retentionMs, where its event is too old before that time is over',
    options: { maxEventAgeMs: 3 * HOUR_MS },
    ageMs: 2.5 * HOUR_MS,
    keptMs: HOUR_MS,
  },
];

/** An id is kept from its claim on for as long; `keptMs` reads on the server how long that still is. */
export async function expectKept(
  { options, ageMs, keptMs }: RetentionCase,
  store: Store,
  readKeptMs: (id: string) => number,
): Promise<void> {
  const held = new HeldHandler();
  const settings = {
    signingKey: KEY,
    store,
    retentionMs: HOUR_MS,
    retryScheduleMs: [60_000],
    ...ampleDeadlines,
  };
  const receiver = createReceiver({ ...settings, ...options })
    .on('*', held.handle)
    .observe(() => {});
  const deliver = await serve(receiver);
  const event = {
    ...createEvent('transfer.created'),
    created_at: new Date(Date.now() - ageMs).toISOString(),
  };
  const expectTime = (): void => {
    const leftMs = readKeptMs(event.id);
    expect(leftMs).toBeLessThanOrEqual(keptMs);
    expect(leftMs).toBeGreaterThan(keptMs - 60_000);
  };
  const answer = deliver(event);
  const call = await Promise.race([held.calls.nth(1), answer]);
  if ('status' in call) throw new Error(`no handler was called: ${JSON.stringify(call)}`);
  expectTime();
  call.succeed();
  expect(await answer).toMatchObject({ status: 200, outcome: 'processed' });
  expectTime();
  expect(await deliver(event)).toMatchObject({ status: 200, outcome: 'duplicate' });
}
