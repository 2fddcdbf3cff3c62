import { createMemoryStore, type ReceiverOptions, type ReleaseRequest, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, eventAt, on, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { MINUTE_MS, StepClock } from '../../../support/step-clock.ts';
import { byResource, eventOf, KEY_A } from '../keys/keyed-events.ts';
import { letterAt } from '../ways-in/drop-or-replay.ts';
import { asUserStore } from './user-store.ts';

/** Longer than a claim is late, and than the pause before a second release; shorter than a lease. */
const SOON_MS = 5_000;
const LEASE_MS = 20_000;

/** In a user's store a claim must arrive before the second release, two seconds after the first one. */
const stores = [
  {
    kind: 'that refuses late claims',
    lateMs: 5_000,
    as: (store: Store): Store => store,
    attempt: 1,
    releases: [LEASE_MS],
  },
  { kind: 'of a user', lateMs: 3_000, as: asUserStore, attempt: 2, releases: [LEASE_MS, LEASE_MS] },
];

/**
 * A receiver with a store that is correct, but slow with the next claim of each id in `late`: it runs after
 * its release, and is answered then. The first run of the handler fails if `failsOnce`.
 */
function open(
  { as, lateMs }: Pick<(typeof stores)[number], 'as' | 'lateMs'>,
  options: Partial<ReceiverOptions<Record<never, never>>> & { readonly failsOnce?: boolean } = {},
) {
  const { failsOnce = false, ...others } = options;
  const pass = fakeTime();
  const clock = new StepClock();
  const store = as(createMemoryStore());
  const late = new Set<string>();
  const claim: Store['claim'] = async (request) => {
    if (late.delete(request.id)) await new Promise((resolve) => setTimeout(resolve, lateMs));
    return store.claim(request);
  };
  const released: ReleaseRequest[] = [];
  const release: Store['release'] = (request) => {
    released.push(request);
    return store.release(request);
  };
  const deadLetters = createMapDeadLetters();
  const settings = { now: clock.now, deadLetters, ...others, store: { ...store, claim, release } };
  let runs = 0;
  const handle = (): void => {
    runs += 1;
    if (failsOnce && runs === 1) throw new Error('the bank is away');
  };
  const endpoint = openDirectly(settings, on('transfer.*', handle, byResource));
  const send = (event: object) => passUntil(pass, endpoint.send(event));
  /** For each release of an event, the time for which claims are refused. */
  const releasesOf = ({ id }: { readonly id: string }) =>
    released.filter((request) => request.id === id).map(({ refuseClaimsMs }) => refuseClaimsMs);
  return { ...endpoint, clock, deadLetters, late, pass, releasesOf, send, store };
}

describe.each(stores)('a store $kind: a claim that arrives after its release', (kind) => {
  describe.each([
    { onStoreFailure: 'reject', first: refused(503, 'store_unavailable') },
    { onStoreFailure: 'process', first: refused(500, 'handler_failed') },
  ] as const)('under $onStoreFailure', ({ onStoreFailure, first }) => {
    async function sendLate() {
      const opened = open(kind, { onStoreFailure, failsOnce: onStoreFailure === 'process' });
      const event = eventAt(opened.clock.startedAt);
      opened.late.add(event.id);
      expect(await opened.send(event)).toEqual(first);
      await opened.pass(SOON_MS);
      return { ...opened, event };
    }

    test('keeps no later delivery of the event waiting', async () => {
      const { event, reports, send } = await sendLate();
      expect(await send(event)).toEqual(accepted('processed', event.id));
      expect(reports.all[1]).toMatchObject({ attempt: kind.attempt, warnings: [] });
    });

    test('is not a run that died, at the last attempt', async () => {
      const { clock, deadLetters, event, pass, send } = await sendLate();
      await pass(LEASE_MS);
      clock.moveTo(15 * MINUTE_MS);
      expect(await send(event)).toEqual(accepted('processed', event.id));
      expect(await deadLetters.get(event.id)).toBeUndefined();
    });

    test('leaves the key of a handler to the next event', async () => {
      // An event waits for its key for less than the rest of a lease.
      const { clock, late, pass, send } = open(kind, { onStoreFailure, deadlineMs: LEASE_MS / 2 });
      late.add(KEY_A);
      const status = onStoreFailure === 'process' ? 200 : 503;
      expect(await send(eventOf('a', clock.now()))).toHaveProperty('status', status);
      await pass(SOON_MS);
      const next = eventOf('a', clock.now());
      expect(await send(next)).toEqual(accepted('processed', next.id));
    });
  });

  test('costs a second release only if the store does not refuse it; a failed handler costs none', async () => {
    const { clock, late, pass, releasesOf, send } = open(kind, { failsOnce: true });
    const [event, failing] = [eventAt(clock.startedAt), eventAt(clock.startedAt)];
    late.add(event.id);
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
    expect(await send(failing)).toEqual(refused(500, 'handler_failed'));
    await pass(2 * SOON_MS);
    expect([releasesOf(event), releasesOf(failing)]).toEqual([kind.releases, [undefined]]);
  });

  test('though another process had the event by then, leaves it to a later delivery', async () => {
    const { clock, late, pass, reports, send, store } = open(kind, { deadlineMs: 2_400 });
    const event = eventAt(clock.startedAt);
    const other = { id: event.id, token: 'another', leaseMs: LEASE_MS, retentionMs: 60 * MINUTE_MS };
    await store.claim(other);
    const sent = send(event);
    // The first claim is busy, and the next one is late.
    await pass(20);
    late.add(event.id);
    expect(await sent).toEqual(refused(503, 'event_running'));
    expect(late.size).toBe(0);
    await store.release({ ...other, handled: [] });
    await pass(2 * SOON_MS);
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(reports.all[1]).toMatchObject({ attempt: kind.attempt + 1, warnings: [] });
  });

  test.each([
    { first: 'drop', second: 'drop' },
    { first: 'drop', second: 'replay' },
    { first: 'replay', second: 'drop' },
    { first: 'replay', second: 'replay' },
  ] as const)('of a $first leaves the letter to a $second', async ({ first, second }) => {
    const { clock, deadLetters, late, pass, receiver } = open(kind);
    const letter = letterAt(clock.now());
    const take = (verb: typeof first) =>
      passUntil<unknown>(pass, receiver[verb](letter)).catch((error: unknown) => error);
    await deadLetters.put(letter);
    late.add(letter.id);
    expect(await take(first)).toMatchObject({ code: 'store_unavailable' });
    await pass(SOON_MS);
    if (second === 'drop') expect(await take(second)).toBe(true);
    else expect(await take(second)).toMatchObject({ outcome: 'processed', warnings: [] });
    expect(await deadLetters.get(letter.id)).toBeUndefined();
  });
});

test.each([
  ...stores.slice(1),
  { kind: 'without looks', lateMs: 5_000, as: ({ peek: _, ...store }: Store): Store => store },
])('a store $kind: a late claim by which an id is read again leaves it to a replay', async (kind) => {
  const { clock, deadLetters, late, pass, receiver, send } = open(kind);
  const tooOld = eventAt(clock.startedAt - 2_000 * MINUTE_MS);
  late.add(tooOld.id);
  expect(await send(tooOld)).toEqual(accepted('parked', tooOld.id));
  expect(late.size).toBe(0);
  await pass(2 * SOON_MS);
  const replayed = receiver.replay(await letterOf(deadLetters, tooOld.id));
  expect(await passUntil(pass, replayed)).toMatchObject({ outcome: 'processed', warnings: [] });
});
