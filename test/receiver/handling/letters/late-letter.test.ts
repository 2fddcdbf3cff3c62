import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { accepted, eventAt, on, openDirectly } from '../../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { slowLetters } from './slow-letters.ts';

test('a letter that comes after the waiting run, and after the run in the other process, is taken out', async () => {
  const pass = fakeTime();
  const { clock, store, deadLetters } = stepClocked();
  const { slowDeadLetters, putting } = slowLetters(deadLetters);
  const held = new HeldHandler();
  const shared = { now: clock.now, store, maxRunMs: 200_000, leaseMs: 5 * MINUTE_MS };
  const running = await openDirectly({ ...shared, deadLetters }, on('transfer.*', held.handle));
  const options = { ...shared, deadLetters: slowDeadLetters, deadlineMs: 6_000 };
  const waiting = await openDirectly(options);
  const event = eventAt(clock.startedAt);
  clock.moveTo(13 * MINUTE_MS);
  const handled = running.send(event);
  const call = await held.calls.nth(1);
  clock.moveTo(15 * MINUTE_MS);
  const parked = waiting.send(event);
  const goOn = await passUntil(pass, putting.nth(1));
  // Nobody waits for the run any more: it ends when it has asked the store once more.
  while ((await waiting.receiver.health()).running > 0) await pass(20);
  call.succeed();
  expect(await handled).toEqual(accepted('processed', event.id));
  goOn();
  expect(await parked).toEqual(accepted('parked', event.id));
  await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
});
