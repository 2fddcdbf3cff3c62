import type { DeadLetters } from 'posthorn';
import { expect } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, eventAt, openEndpoint } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';

/**
 * An endpoint, and so many last attempts that come to it at once; `data.state` says what the handler makes of
 * each.
 */
export async function openBacklog(options: EndpointOptions, count: number, state = 'FAILED') {
  const endpoint = await openEndpoint(options, (receiver) =>
    receiver.on('transfer.*', ({ data }) => {
      if (data.state === 'FAILED') throw new Error('poison');
    }),
  );
  const createdAt = Date.now() - 14 * MINUTE_MS;
  const events = Array.from({ length: count }, () => ({ ...eventAt(createdAt), data: { state } }));
  return { ...endpoint, events, ids: events.map(({ id }) => id) };
}

/** Nobody waits for what is written of a letter after the first time: it may come after the deadline. */
export async function expectAllParked(deadLetters: DeadLetters, ids: readonly string[]): Promise<void> {
  const letters = await readAll(deadLetters.list());
  expect(letters.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  const others = letters.filter(({ reason }) => !['handler_failed', 'run_abandoned'].includes(reason));
  expect(others).toEqual([]);
}

/** A disk that writes one letter after the other, and takes so long for each. */
export function createSlowDisk(msEach: number) {
  const map = createMapDeadLetters();
  const begun = new Set<string>();
  let last: Promise<void> = Promise.resolve();
  const put: DeadLetters['put'] = async (letter) => {
    begun.add(letter.id);
    last = last.then(() => new Promise((resolve) => setTimeout(resolve, msEach)));
    await last;
    await map.put(letter);
  };
  return { deadLetters: { ...map, put }, map, begun, written: () => last };
}

/** Sends so many last attempts at once, to a disk that takes so long for each; expects all to be parked. */
export async function expectBacklogParked(count: number, msEach: number): Promise<void> {
  const { deadLetters, map } = createSlowDisk(msEach);
  const { events, ids, receive } = await openBacklog({ deadLetters }, count);
  const answers = await passUntil(fakeTime(), Promise.all(events.map(receive)));
  expect(answers).toEqual(ids.map((id) => accepted('parked', id)));
  await expectAllParked(map, ids);
}
