import { createMemoryStore, type EventData, type Store, type WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { openDirectly } from '../../support/open-endpoint.ts';

const byResource = { name: 'book', concurrencyKey: (event: { data: EventData }) => event.data.id };
const KEY_IN_STORE = 'handled:key:4:book:a';

const createTransfer = (): WebhookEvent<'transfer.created', EventData> =>
  createEvent('transfer.created', { id: 'a' });

/** Claims the key as another process does. */
async function claimElsewhere(store: Store, leaseMs: number): Promise<void> {
  const claim = { id: KEY_IN_STORE, token: 'elsewhere', leaseMs, retentionMs: leaseMs };
  expect(await store.claim(claim)).toMatchObject({ state: 'claimed' });
}

test('the key of a killed process is free when its lease ends, and the event that waits is handled', async () => {
  const store = createMemoryStore();
  await claimElsewhere(store, 500);
  const { send, reports } = openDirectly({ store }, (receiver) => receiver.on('*', () => {}, byResource));
  expect(await send(createTransfer())).toMatchObject({ status: 200 });
  const [handler] = reports.all[0]?.handlers ?? [];
  expect(handler?.keyWaitMs).toBeGreaterThan(400);
});

test('the message of key_busy says when the key of another process is free', async () => {
  const store = createMemoryStore();
  await claimElsewhere(store, 60_000);
  const { send, reports } = openDirectly({ store, deadlineMs: 300 }, (receiver) =>
    receiver.on('*', () => {}, byResource),
  );
  expect(await send(createTransfer())).toMatchObject({ status: 503 });
  expect(reports.all[0]).toMatchObject({ outcome: 'busy', code: 'key_busy' });
  expect(reports.all[0]?.error?.message).toMatch(
    /^the handler "book" is .* if its process was killed, the key is free in 5\d{4} ms$/,
  );
});

test('the handler of a process that froze past the lease of its key is aborted, and told why', async () => {
  const clock = { time: 0 };
  const store = createMemoryStore({ now: () => clock.time });
  const held = new HeldHandler();
  const { send, reports } = openDirectly({ store, leaseMs: 300 }, (receiver) =>
    receiver.on('*', held.handle, byResource),
  );
  const answer = send(createTransfer());
  const { context, succeed } = await held.calls.nth(1);
  // The claim of the event ends as well, but nobody takes it.
  clock.time += 1_000;
  await claimElsewhere(store, 60_000);
  await expect.poll(() => context.signal.aborted).toBe(true);
  expect(context.signal.reason).toMatchObject({
    code: 'lease_lost',
    message: 'the lease of the key of the handler "book" ran out and another process has taken the key',
  });
  succeed();
  expect(await answer).toMatchObject({ status: 200 });
  expect(reports.all[0]?.warnings).toContainEqual(expect.stringMatching(/^lease_lost: .*key/));
});

test('a handler that outlasts its abortion by maxRunMs loses its key to the next event, with a warning', async () => {
  const held = new HeldHandler();
  const { send, reports } = openDirectly({ deadlineMs: 2_000, maxRunMs: 200 }, (receiver) =>
    receiver.on('*', held.handle, byResource),
  );
  const first = send(createTransfer());
  const deaf = await held.calls.nth(1);
  const second = send(createTransfer());
  expect(await first).toMatchObject({ status: 503 });
  expect(reports.all[0]).toMatchObject({ code: 'run_timeout' });
  (await held.calls.nth(2)).succeed();
  expect(await second).toMatchObject({ status: 200 });
  expect(reports.all[1]?.warnings).toContainEqual(expect.stringMatching(/^key_overrun: the handler "book" /));
  deaf.succeed();
});

test('without the store, under onStoreFailure, each process handles an event of the key', async () => {
  const store: Store = {
    ...createMemoryStore(),
    claim: () => Promise.reject(new Error('the store is away')),
  };
  const held = new HeldHandler();
  const processes = [1, 2].map(() =>
    openDirectly({ store, onStoreFailure: 'process' }, (receiver) =>
      receiver.on('*', held.handle, byResource),
    ),
  );
  const answers = processes.map(({ send }) => send(createTransfer()));
  await held.calls.nth(2);
  for (const { succeed } of held.calls.all) succeed();
  expect(await Promise.all(answers)).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(processes[0]?.reports.all[0]?.warnings).toContainEqual(expect.stringMatching(/^claimed_nothing: /));
});
