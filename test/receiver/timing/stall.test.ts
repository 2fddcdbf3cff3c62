import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { accepted, openEndpoint } from '../../support/open-endpoint.ts';

/** What a server answers while the event loop is blocked for longer than the limit of the store. */
async function answerInStall(): Promise<void> {
  // The limit has begun by then.
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  const answered = stat('.');
  const endsAt = performance.now() + 500;
  while (performance.now() < endsAt);
  await answered;
}

test('an answer that came while the process stood still came in time', async () => {
  const memory = createMemoryStore();
  const claim: Store['claim'] = async (request) => {
    await answerInStall();
    return memory.claim(request);
  };
  const { send } = await openEndpoint({ store: { ...memory, claim, commandTimeoutMs: 100 } });
  const event = createEvent('transfer.succeeded');
  expect(await send(event)).toEqual(accepted('processed', event.id));
});
