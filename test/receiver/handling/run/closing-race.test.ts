import { createMemoryStore, type DeadLetters, type Delivery, type Receiver, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { aborted } from '../../../support/aborted.ts';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { Gate, shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openEndpoint,
  refused,
} from '../../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { unanswered } from '../../../support/unanswered.ts';

describe('once close has run out of grace', () => {
  test('a delivery whose body was still being read starts no handler', async () => {
    const held = new HeldHandler();
    const { receiver, reports } = await openEndpoint({}, (fresh) => fresh.on('transfer.*', held.handle));
    const reading = shutGate();
    const event = eventAt(Date.now());
    const whole = deliveryOf(event);
    const delivery: Delivery = {
      ...whole,
      readBody: async (options) => {
        await reading.pass();
        return whole.readBody(options);
      },
    };
    const answer = receiver.receive(delivery);
    await reading.held.nth(1);
    expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [] });
    reading.open();
    const reply = await answer;
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
    expect(JSON.parse(String(reply.body))).toMatchObject({ code: 'closing' });
    expect(held.calls.all).toEqual([]);
    expect(reports.all).toMatchObject([{ outcome: 'failed', code: 'closing', event: { id: event.id } }]);
  });

  test('such a delivery is parked where no retry may follow', async () => {
    const deadLetters = createMapDeadLetters();
    const held = new HeldHandler();
    const { receiver } = await openEndpoint({ deadLetters }, (fresh) => fresh.on('transfer.*', held.handle));
    const reading = shutGate();
    const event = eventAt(Date.now() - 15 * MINUTE_MS);
    const whole = deliveryOf(event);
    const readBody: Delivery['readBody'] = (options) => reading.pass().then(() => whole.readBody(options));
    const answer = receiver.receive({ ...whole, readBody });
    await reading.held.nth(1);
    await receiver.close({ graceMs: 0 });
    reading.open();
    expect(await answer).toMatchObject({
      status: 200,
      body: JSON.stringify({ outcome: 'parked', id: event.id }),
    });
    expect(held.calls.all).toEqual([]);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'closing', attempts: 0 });
  });

  /** Another run, by whose signal is seen that close has come to the runs. */
  async function openBeside(options: EndpointOptions) {
    const held = new HeldHandler();
    const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', held.handle));
    const other = eventAt(Date.now());
    const running = endpoint.send(other);
    const call = await held.calls.nth(1);
    const close = async (receiver: Receiver) => {
      const closed = receiver.close({ graceMs: 0 });
      await aborted(call.context.signal);
      return { closed };
    };
    return { ...endpoint, close, held, other, running };
  }

  /** Sends an event that waits at the gate until close has come; it abandons the other run. */
  async function closeAtGate(gate: Gate, event: object, opened: Awaited<ReturnType<typeof openBeside>>) {
    const answer = opened.send(event);
    await gate.held.nth(1);
    const { closed } = await opened.close(opened.receiver);
    gate.open();
    expect(await closed).toEqual({ abandoned: [opened.other.id] });
    expect(await opened.running).toEqual(refused(503, 'run_closed'));
    return answer;
  }

  /** A schema that answers only for the other run. */
  const silentSchema = () => {
    const answers = [(value: unknown) => ({ value })];
    const validate = (value: unknown) => answers.pop()?.(value) ?? unanswered();
    return { transfer: { '~standard': { version: 1, vendor: 'test', validate } } } as const;
  };

  test.each([
    ['get', '', {}],
    ['put', '', {}],
    ['put', ', and waits for no permit', { maxRunning: 1 }],
    ['put', ', and waits for no schema', { schemas: silentSchema() }],
  ] as const)('a run that was at the %s of its letter starts no handler%s', async (at, _, options) => {
    const map = createMapDeadLetters();
    const gate = new Gate();
    const deadLetters: DeadLetters = {
      ...map,
      get: async (id) => {
        if (at === 'get') await gate.pass();
        return map.get(id);
      },
      put: async (letter) => {
        if (at === 'put') await gate.pass();
        await map.put(letter);
      },
    };
    const opened = await openBeside({ deadLetters, ...options });
    gate.shut();
    const event = eventAt(Date.now() - 15 * MINUTE_MS);
    expect(await closeAtGate(gate, event, opened)).toEqual(accepted('parked', event.id));
    expect(opened.held.calls.all).toHaveLength(1);
    const letter = await letterOf(map, event.id);
    expect(letter).toMatchObject({ reason: 'run_closed' });
    expect(letter.runningUntil).toBeUndefined();
    expect(await opened.reports.first((report) => report.event?.id === event.id)).toMatchObject({
      outcome: 'parked',
      code: 'run_closed',
      endpointAtRisk: false,
      handlers: [],
    });
  });

  function gatedClaims() {
    const [memory, gate] = [createMemoryStore(), new Gate()];
    const claim: Store['claim'] = (request) => gate.pass().then(() => memory.claim(request));
    return { gate, memory, store: { ...memory, claim } };
  }

  test('a run whose claim was under way starts no handler, and gives the claim back', async () => {
    const { gate, memory, store } = gatedClaims();
    const opened = await openBeside({ store });
    gate.shut();
    const event = eventAt(Date.now());
    expect(await closeAtGate(gate, event, opened)).toEqual(refused(503, 'run_closed'));
    expect(opened.held.calls.all).toHaveLength(1);
    const report = await opened.reports.first((seen) => seen.event?.id === event.id);
    expect(report).toMatchObject({ outcome: 'failed', code: 'run_closed', attempt: 1 });
    const claim = { id: event.id, token: 'another', leaseMs: 1_000, retentionMs: 60_000 };
    expect(await memory.claim(claim)).toMatchObject({ state: 'claimed', abandoned: 0 });
  });

  test('a run whose claim was under way does not call its schema any more', async () => {
    const { gate, store } = gatedClaims();
    let calls = 0;
    const validate = (value: unknown) => {
      calls += 1;
      return { value };
    };
    const schemas = { transfer: { '~standard': { version: 1, vendor: 'test', validate } } } as const;
    const opened = await openBeside({ store, schemas });
    gate.shut();
    expect(await closeAtGate(gate, eventAt(Date.now()), opened)).toEqual(refused(503, 'run_closed'));
    // The other run has called it.
    expect(calls).toBe(1);
  });

  test('a run whose claim was under way is parked if that is granted as the last attempt', async () => {
    const memory = createMemoryStore();
    const gate = new Gate();
    const claim: Store['claim'] = async (request) => {
      await gate.pass();
      const result = await memory.claim(request);
      return result.state === 'claimed' ? { ...result, attempt: 4, spacedAttempts: 4 } : result;
    };
    const deadLetters = createMapDeadLetters();
    const { close, held, receiver, send } = await openBeside({ store: { ...memory, claim }, deadLetters });
    gate.shut();
    const event = eventAt(Date.now());
    const answer = send(event);
    await gate.held.nth(1);
    await close(receiver);
    gate.open();
    expect(await answer).toEqual(accepted('parked', event.id));
    expect(held.calls.all).toHaveLength(1);
    expect(await letterOf(deadLetters, event.id)).toMatchObject({ reason: 'run_closed', attempts: 4 });
  });
});
