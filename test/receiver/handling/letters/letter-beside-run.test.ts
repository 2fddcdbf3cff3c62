import { createMemoryStore, type DeadLetters, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, eventAt, on, openDirectly } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { slowLetters } from './slow-letters.ts';

const RETENTION_MS = 86_400_000;

test('a retry whose deadline comes while it stores the letter of an abandoned attempt leaves none of its two letters', async () => {
  const pass = fakeTime();
  const { clock, store, deadLetters } = stepClocked();
  const { slowDeadLetters, putting } = slowLetters(deadLetters);
  const held = new HeldHandler();
  const released = new Seen<string>();
  const release: Store['release'] = async (request) => {
    const answer = await store.release(request);
    released.add(answer.state);
    return answer;
  };
  const shared = { now: clock.now, store: { ...store, release }, leaseMs: 20 * MINUTE_MS };
  const frozen = openDirectly({ ...shared, deadLetters }, on('*', held.handle));
  const other = openDirectly(
    { ...shared, deadLetters: slowDeadLetters, deadlineMs: 4_000 },
    on('*', held.handle),
  );
  const event = eventAt(clock.startedAt);
  const running = frozen.send(event);
  const call = await held.calls.nth(1);
  clock.step(15 * MINUTE_MS);
  const retried = other.send(event);
  // The next claim comes before the deadline, and the deadline before the letter is stored.
  await pass(2_500);
  clock.step(6 * MINUTE_MS);
  const storeAbandoned = await passUntil(pass, putting.nth(1));
  await pass(700);
  storeAbandoned();
  const storeLate = await putting.nth(2);
  expect(await released.nth(1)).toBe('released');
  call.succeed();
  expect(await running).toEqual(accepted('processed', event.id));
  storeLate();
  expect(await retried).toEqual(accepted('parked', event.id));
  await pass(1_000);
  expect(await deadLetters.get(event.id)).toBeUndefined();
  expect(held.calls.all).toHaveLength(1);
});

test('a letter that is stored beside a run that ends busy: the id is read again once', async () => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  const tokens = new Set<string>();
  const claim: Store['claim'] = (request) => {
    tokens.add(request.token);
    return memory.claim(request);
  };
  let looks = 0;
  const peek: Store['peek'] = ({ id }) => {
    looks += 1;
    return memory.peek?.({ id }) ?? expect.fail('no peek');
  };
  const map = createMapDeadLetters();
  const putting = shutGate();
  const put: DeadLetters['put'] = (letter) => putting.pass().then(() => map.put(letter));
  const { send } = openDirectly(
    { store: { ...memory, claim, peek }, deadLetters: { ...map, put }, deadlineMs: 2_400 },
    (receiver) => receiver.on('transfer.*', () => {}),
  );
  const event = eventAt(Date.now() - 15 * MINUTE_MS);
  await memory.claim({ id: event.id, token: 'other', leaseMs: 60_000, retentionMs: RETENTION_MS });
  const answer = send(event);
  await passUntil(pass, putting.held.nth(1));
  // The run ends, because no delivery waits for it any more, while its letter is being stored.
  await pass(450);
  putting.open();
  expect(await passUntil(pass, answer)).toEqual(accepted('parked', event.id));
  // The store would be asked a second time by then.
  await pass(5_000);
  expect({ looks, claims: tokens.size }).toEqual({ looks: 1, claims: 1 });
});
