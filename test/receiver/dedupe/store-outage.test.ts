import { createMemoryStore, type DeadLetters, type Store } from 'posthorn';
import { beforeEach, describe, expect, test } from 'vitest';
import { flowingTime } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openDirectly,
  refused,
} from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { Seen } from '../../support/seen.ts';
import { MINUTE_MS, StepClock } from '../../support/step-clock.ts';
import { unanswered } from '../../support/unanswered.ts';
import { until } from '../../support/until.ts';

beforeEach(flowingTime);

const away = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));
const unreachable: Store = { claim: away, renew: away, complete: away, release: away };
// Its time-out lies behind the deadline of the deliveries.
const silent: Store = {
  commandTimeoutMs: 1_000,
  claim: unanswered,
  renew: unanswered,
  complete: unanswered,
  release: unanswered,
};

/** An endpoint whose handler succeeds or fails, and an event so many minutes old. */
async function openAt(minutes: number, options: EndpointOptions) {
  const clock = new StepClock();
  const event = eventAt(clock.startedAt);
  clock.moveTo(minutes * MINUTE_MS);
  const runs: string[] = [];
  const endpoint = openDirectly({ now: clock.now, ...options }, (receiver) =>
    receiver.on('transfer.*', ({ id, data }) => {
      runs.push(id);
      if (data.state === 'FAILED') throw new Error('poison');
    }),
  );
  return { ...endpoint, event, runs };
}

test('a memory store whose clock throws: 503, and nothing goes on in the background that could end the process', async () => {
  let asked = 0;
  const store = createMemoryStore({
    now: () => {
      asked += 1;
      throw new Error('no time');
    },
  });
  const { event, send } = await openAt(0, { store });
  expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
  // The claim, its release, and the release that is tried again: vitest fails for a rejection that nobody
  // handles.
  await until('the release is tried again', () => asked >= 4);
});

test.each<{ when: string; claim: Store['claim'] }>([
  { when: 'at once', claim: () => JSON.parse('{"attempt":1}') },
  { when: 'later', claim: async () => JSON.parse('{"attempt":1}') },
])('a store that answers $when, and with no state, counts as one that failed', async ({ claim }) => {
  const { event, reports, runs, send } = await openAt(0, { store: { ...createMemoryStore(), claim } });
  expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
  expect(reports.all[0]?.error?.message).toContain('{ attempt: 1 }, which has no state');
  expect(runs).toEqual([]);
});

describe.each([
  { name: 'that cannot be reached', store: unreachable },
  { name: 'that does not answer', store: silent },
])('a store $name', ({ store }) => {
  const deadlineMs = 600;

  test('at the last attempt: the event is parked, and no handler runs', async () => {
    const deadLetters = createMapDeadLetters();
    const { event, reports, runs, send } = await openAt(15, { store, deadLetters, deadlineMs });
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(runs).toEqual([]);
    expect(reports.all).toMatchObject([
      { outcome: 'parked', status: 200, code: 'store_unavailable', endpointAtRisk: false, handlers: [] },
    ]);
    // Before the command time-out of a store, let alone the service's patience.
    expect(reports.all[0]?.durationMs).toBeLessThan(2_000);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'store_unavailable', attempts: 0 });
  });

  test('at the last attempt without dead letters: 503, and the endpoint is at risk', async () => {
    const { event, reports, runs, send } = await openAt(15, { store, deadlineMs });
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
    expect(runs).toEqual([]);
    expect(reports.all).toMatchObject([{ outcome: 'failed', endpointAtRisk: true }]);
  });

  test('at an earlier attempt: 503, and nothing is parked', async () => {
    const deadLetters = createMapDeadLetters();
    const { event, reports, runs, send } = await openAt(5, { store, deadLetters, deadlineMs });
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
    expect(runs).toEqual([]);
    expect(reports.all).toMatchObject([{ outcome: 'failed', endpointAtRisk: false }]);
    expect(await readAll(deadLetters.list())).toEqual([]);
  });
});

test('a store that comes back tells that the parked event was completed elsewhere: the letter is taken out', async () => {
  const store = createMemoryStore();
  const deadLetters = createMapDeadLetters();
  const removed = new Seen<string>();
  const remove: DeadLetters['remove'] = async (id) => {
    const was = await deadLetters.remove(id);
    removed.add(id);
    return was;
  };
  let isAway = true;
  const claim: Store['claim'] = (request) => {
    const result = isAway ? away() : store.claim(request);
    isAway = false;
    return result;
  };
  const options = { store: { ...store, claim }, deadLetters: { ...deadLetters, remove } };
  const { event, runs, send } = await openAt(15, options);
  await store.complete({ id: event.id, token: 'elsewhere', retentionMs: 60_000 });
  expect(await send(event)).toEqual(accepted('parked', event.id));
  await removed.nth(1);
  expect(await readAll(deadLetters.list())).toEqual([]);
  expect(runs).toEqual([]);
});

describe("onStoreFailure 'process'", () => {
  /** A store that fails to claim, and tells of what is completed. */
  function withoutClaims() {
    const store = createMemoryStore();
    const completed = new Seen<string>();
    const complete: Store['complete'] = (request) => {
      completed.add(request.id);
      return store.complete(request);
    };
    return { completed, store: { ...store, complete, claim: away } satisfies Store, whole: store };
  }

  test('runs the handlers without a claim, and still completes', async () => {
    const { completed, store, whole } = withoutClaims();
    const { event, reports, runs, send } = await openAt(0, { store, onStoreFailure: 'process' });
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(runs).toEqual([event.id]);
    expect(reports.all).toMatchObject([
      {
        outcome: 'processed',
        attempt: 1,
        warnings: expect.arrayContaining([expect.stringMatching(/^claimed_nothing: /)]),
      },
    ]);
    expect(completed.all).toEqual([event.id]);
    const request = { id: event.id, token: 'later', leaseMs: 1_000, retentionMs: 1_000 };
    expect(await whole.claim(request)).toEqual({ state: 'completed' });
  });

  test('answers a failure as such, and parks it at the last attempt', async () => {
    const { store } = withoutClaims();
    const deadLetters = createMapDeadLetters();
    const options: EndpointOptions = { store, deadLetters, onStoreFailure: 'process' };
    const early = await openAt(0, options);
    const failing = { ...early.event, data: { state: 'FAILED' } };
    expect(await early.send(failing)).toEqual(refused(500, 'handler_failed'));
    const last = await openAt(15, options);
    const poison = { ...last.event, data: { state: 'FAILED' } };
    expect(await last.send(poison)).toEqual(accepted('parked', poison.id));
    expect(await deadLetters.get(poison.id)).toMatchObject({ reason: 'handler_failed' });
    expect(await deadLetters.get(failing.id)).toBeUndefined();
  });
});

test('a handled event that the store does not take is answered 200 after two command time-outs, and completed later', async () => {
  const store = createMemoryStore();
  const tries = new Seen<number>();
  let isAway = true;
  const flaky: Store = {
    ...store,
    complete: (request) => {
      tries.add(performance.now());
      return isAway ? away() : store.complete(request);
    },
  };
  const leaseMs = 600;
  const { event, reports, runs, send } = await openAt(0, { store: flaky, leaseMs, now: Date.now });
  const fresh = { ...event, created_at: new Date().toISOString() };
  const claimByAnother = () => store.claim({ id: fresh.id, token: 'another', leaseMs, retentionMs: 60_000 });
  const startedAt = performance.now();
  const first = send(fresh);
  // Some way into the retries the lease would have run out if it were not renewed.
  await tries.first((at) => at - startedAt > 2 * leaseMs);
  expect(await claimByAnother()).toMatchObject({ state: 'busy' });
  const duplicate = send(fresh);
  expect(await first).toEqual(accepted('processed', fresh.id));
  const durationMs = performance.now() - startedAt;
  expect(durationMs).toBeGreaterThan(3_500);
  expect(durationMs).toBeLessThan(5_500);
  expect(await duplicate).toEqual(accepted('duplicate', fresh.id));
  expect(reports.all[0]).toMatchObject({
    outcome: 'processed',
    late: false,
    warnings: expect.arrayContaining([expect.stringMatching(/^completion_pending: /)]),
  });
  expect(await send(fresh)).toEqual(accepted('duplicate', fresh.id));
  isAway = false;
  await expect.poll(claimByAnother).toEqual({ state: 'completed' });
  expect(await send(fresh)).toEqual(accepted('duplicate', fresh.id));
  expect(runs).toEqual([fresh.id]);
});
