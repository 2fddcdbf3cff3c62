import { createReceiver, DeadLetterError, type DeadLetters, type Receiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createLetter } from '../../stores/kit/conformance.ts';
import { awaitedLater } from '../../support/awaited-later.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTime, flowingTime } from '../../support/fake-time.ts';
import { Gate } from '../../support/gate.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { accepted, eventAt } from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { unanswered } from '../../support/unanswered.ts';
import { expectNothingToBeParked, openLastChance } from './last-chance.ts';

/** Dead letters of which some operations are replaced. */
function broken(operations: Partial<DeadLetters>): DeadLetters {
  return { ...createMapDeadLetters(), ...operations };
}

const noSpace = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));

test('dead letters that refuse to be written: the handlers run all the same', async () => {
  flowingTime();
  await expectNothingToBeParked(openLastChance(broken({ put: noSpace })));
});

test('dead letters that hang when written: the handlers run all the same', async () => {
  flowingTime();
  await expectNothingToBeParked(openLastChance(broken({ put: unanswered })));
});

test('dead letters that hang altogether: the handlers run all the same', async () => {
  flowingTime();
  await expectNothingToBeParked(
    openLastChance(broken({ put: unanswered, get: unanswered, remove: unanswered })),
  );
});

/** Dead letters of which some operations hang while the gate is shut. */
function hanging(gate: Gate, names: readonly ('get' | 'put' | 'remove')[]): DeadLetters {
  const map = createMapDeadLetters();
  const when = (name: (typeof names)[number]) => (names.includes(name) ? gate.pass() : Promise.resolve());
  return {
    ...map,
    get: (id) => when('get').then(() => map.get(id)),
    put: (letter) => when('put').then(() => map.put(letter)),
    remove: (id) => when('remove').then(() => map.remove(id)),
  };
}

/** Its status, and its outcome or the code of its refusal. */
async function receiveBy(receiver: Receiver, event: object): Promise<readonly unknown[]> {
  const { status, body } = await receiver.receive(deliveryOf(event));
  const { outcome, code } = JSON.parse(body);
  return [status, outcome ?? code];
}

describe.each([
  { name: 'altogether', names: ['get', 'put', 'remove'] as const },
  { name: 'when written', names: ['put', 'remove'] as const },
])('dead letters that hang $name while many last attempts come', ({ names }) => {
  test('cost none of them its handlers, and store letters again when they are back', async () => {
    const gate = new Gate();
    const deadLetters = hanging(gate, names);
    const deadlineMs = 4_000;
    const { clock, reports, receiver, eventThat } = openLastChance(deadLetters, deadlineMs);
    const isReported = (id: string) => reports.first(({ event }) => event?.id === id);
    const pass = fakeTime();
    const send = (event: object) => receiveBy(receiver, event);
    gate.shut();
    const good = Array.from({ length: 100 }, () => eventThat('SUCCEEDED'));
    const bad = Array.from({ length: 100 }, () => eventThat('FAILED'));
    const sending = awaitedLater(Promise.all([...good, ...bad].map(send)));
    // An attempt that is not the last needs no letter.
    const young = { ...eventThat('SUCCEEDED'), created_at: new Date(clock.now()).toISOString() };
    expect(await send(young)).toEqual([200, 'processed']);
    expect(await isReported(young.id)).toMatchObject({ final: false, warnings: [], durationMs: 0 });
    await pass(deadlineMs);
    expect(await sending).toEqual([
      ...good.map(() => [200, 'processed']),
      ...bad.map(() => [500, 'handler_failed']),
    ]);
    for (const { durationMs } of reports.all) expect(durationMs).toBeLessThanOrEqual(deadlineMs);

    gate.open();
    const later = Array.from({ length: 100 }, () => eventThat('FAILED'));
    expect(await Promise.all(later.map(send))).toEqual(later.map(() => [200, 'parked']));
    // Of an event that was handled during the outage no letter stays behind.
    const handled = new Set(good.map(({ id }) => id));
    const leftBehind = async () => (await readAll(deadLetters.list())).filter(({ id }) => handled.has(id));
    await expect.poll(leftBehind).toEqual([]);
  });
});

test('dead letters that hang when written delay handlers by their time limits, not until the deadline', async () => {
  const gate = new Gate();
  const startedAt = new Map<string, number>();
  const deadlineMs = 12_000;
  const receiver = createReceiver({ signingKey: KEY, deadLetters: hanging(gate, ['put']), deadlineMs })
    .on('transfer.*', ({ id }) => startedAt.set(id, performance.now()))
    .observe(() => {});
  const pass = fakeTime();
  gate.shut();
  const sending: Promise<number>[] = [];
  const sendOne = async (): Promise<number> => {
    const event = eventAt(Date.now() - 14 * MINUTE_MS);
    const sentAt = performance.now();
    expect(await receiveBy(receiver, event)).toEqual([200, 'processed']);
    return (startedAt.get(event.id) ?? Number.NaN) - sentAt;
  };
  // They come one after the other, so that there is always one whose earlier letter is read without trouble.
  for (let count = 0; count < 250; count += 1) {
    sending.push(awaitedLater(sendOne()));
    await pass(20);
  }
  await pass(deadlineMs);
  // The limit of one operation is two seconds, and there are two of them; handlers wait for eight seconds at
  // most.
  expect(Math.max(...(await Promise.all(sending)))).toBeLessThan(4_500);
});

test('dead letters that cannot be read are written', async () => {
  const deadLetters = createMapDeadLetters();
  const unreadable = { ...deadLetters, get: () => Promise.reject(new Error('EIO')) };
  const { send, reports, eventThat } = openLastChance(unreadable);
  const event = eventThat('FAILED');
  expect(await send(event)).toEqual(accepted('parked', event.id));
  expect(reports.all.at(-1)?.warnings).toEqual([expect.stringMatching(/^dead_letter_not_read: /)]);
  expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed' });
});

test('a letter that cannot be taken out changes no success; a replay finds the event completed', async () => {
  const deadLetters = createMapDeadLetters();
  let refusing = true;
  const remove: DeadLetters['remove'] = (id) => (refusing ? noSpace() : deadLetters.remove(id));
  const { send, reports, eventThat, receiver } = openLastChance({ ...deadLetters, remove });
  const event = eventThat('SUCCEEDED');
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(reports.all.at(-1)?.warnings).toEqual([expect.stringMatching(/^dead_letter_not_removed: /)]);
  refusing = false;
  const letter = await deadLetters.get(event.id);
  if (letter === undefined) throw new Error('no letter');
  expect(await receiver.replay({ ...letter, runningUntil: undefined })).toMatchObject({
    outcome: 'duplicate',
  });
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test('a letter whose writing was given up as late cannot appear after its removal', async () => {
  flowingTime();
  const deadLetters = createMapDeadLetters();
  const writes = new Seen<() => Promise<void>>();
  const removals = new Seen<string>();
  const slow: DeadLetters = {
    ...deadLetters,
    put: (letter) =>
      new Promise((resolve) => {
        writes.add(async () => resolve(await deadLetters.put(letter)));
      }),
    remove: async (id) => {
      const removed = await deadLetters.remove(id);
      removals.add(id);
      return removed;
    },
  };
  const { send, eventThat } = openLastChance(slow);
  const event = eventThat('SUCCEEDED');
  expect(await send(event)).toEqual(accepted('processed', event.id));
  await writes.all[0]?.();
  await removals.first((id) => id === event.id);
  expect(await deadLetters.get(event.id)).toBeUndefined();
});

test.each([
  {
    rejection: 'an error of their client',
    failure: new Error('ECONNREFUSED'),
    code: 'dead_letters_unavailable',
    message: 'the dead letters failed: ECONNREFUSED',
  },
  {
    rejection: 'a DeadLetterError, which goes on as it is',
    failure: new DeadLetterError('dead_letter_unreadable', 'the letter is cut off'),
    code: 'dead_letter_unreadable',
    message: 'the letter is cut off',
  },
])(
  'a drop rejects with a DeadLetterError if the dead letters reject with $rejection',
  async ({ failure, code, message }) => {
    const deadLetters = broken({ get: () => Promise.reject(failure) });
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {});
    receiver.observe(() => {});
    const letter = createLetter({ runningUntil: undefined });
    await expect(receiver.drop(letter)).rejects.toMatchObject({ name: 'DeadLetterError', code, message });
  },
);
