import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { setClock } from '../sqlite/clock.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { type Fault, faults, type LocalD1, silent } from './binding.ts';
import { useD1 } from './fixture.ts';

const EVENTS = 300;
const SENDERS = 10;
const FAULT_SHARE = 0.25;
const RETRY_PAUSE_MS = 20;

const d1 = useD1();

const kinds: readonly Fault[] = [...Object.values(faults), silent(true), silent(false)];

function makeFaulty(binding: LocalD1, isCalm: () => boolean): void {
  binding.nextFault = () => {
    if (isCalm() || Math.random() > FAULT_SHARE) return undefined;
    // An answer that never comes takes two seconds, so most faults are of the other kinds.
    const last = Math.random() < 0.1 ? kinds.length : kinds.length - 2;
    return kinds[Math.floor(Math.random() * last)];
  };
}

test('two receivers on one database, with lost answers, throttling, resets, and a clock that is set back: nothing is lost, and nothing completed is claimed again', {
  timeout: 180_000,
}, async () => {
  let skewMs = 0;
  setClock(d1.connection, () => Date.now() + skewMs);
  const handled = new Map<string, number>();
  const handledAgain: string[] = [];
  const acknowledged = new Set<string>();
  const counts = { answers: 0, refused: 0, faults: 0 };
  let isCalm = false;

  const openReceiver = (binding: LocalD1) =>
    openEndpoint(
      {
        store: createD1Store(binding, { scope: 'storm' }),
        deadLetters: createD1DeadLetters(binding, { scope: 'storm' }),
        leaseMs: 4_000,
        maxEventAgeMs: Number.POSITIVE_INFINITY,
      },
      (receiver) =>
        receiver.on('*', async ({ id }) => {
          if (Math.random() < 0.1) throw new Error('this attempt fails');
          handled.set(id, (handled.get(id) ?? 0) + 1);
        }),
    );
  const bindings = [d1.binding, d1.another()];
  for (const binding of bindings) {
    makeFaulty(binding, () => isCalm);
    const { nextFault } = binding;
    binding.nextFault = () => {
      const fault = nextFault();
      if (fault !== undefined) counts.faults += 1;
      return fault;
    };
  }
  const endpoints = await Promise.all(bindings.map(openReceiver));

  const sendUntilAcknowledged = (event: ReturnType<typeof createEvent>) =>
    until(
      'the event is acknowledged',
      async () => {
        const wasCompleted = acknowledged.has(event.id);
        const both = Math.random() < 0.3 ? endpoints : [endpoints[Math.floor(Math.random() * 2)]];
        const answers = await Promise.all(both.map((endpoint) => endpoint?.send(event)));
        counts.answers += answers.length;
        counts.refused += answers.filter((answer) => answer?.status !== 200).length;
        const outcomes = answers.filter((answer) => answer?.status === 200).map((answer) => answer?.body);
        const outcomesOf = outcomes.map((body) => Reflect.get(Object(body), 'outcome'));
        if (wasCompleted && outcomesOf.includes('processed')) handledAgain.push(event.id);
        if (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
        else acknowledged.add(event.id);
        return outcomes.length > 0;
      },
      60_000,
    );

  const events = Array.from({ length: EVENTS }, () => createEvent('transfer.succeeded'));
  const waiting = [...events];
  const send = async () => {
    for (let event = waiting.pop(); event !== undefined; event = waiting.pop()) {
      if (waiting.length === 200) skewMs = -5_000;
      if (waiting.length === 100) skewMs = 5_000;
      if (waiting.length === 50) skewMs = 0;
      await sendUntilAcknowledged(event);
      if (Math.random() < 0.2) await sendUntilAcknowledged(event);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  isCalm = true;
  for (const event of events) await sendUntilAcknowledged(event);

  process.stdout.write(`storm on D1: ${JSON.stringify(counts)}\n`);
  expect(handledAgain).toEqual([]);
  expect(events.filter(({ id }) => !handled.has(id))).toEqual([]);
  expect(counts.faults).toBeGreaterThan(100);
});
