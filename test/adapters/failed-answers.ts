import {
  createMemoryStore,
  PermanentError,
  type Receiver,
  type ReceiverOptions,
  type ReportCode,
  type Store,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  Gate,
  HANDLER_MESSAGE,
  KEY,
  type Mount,
  transfer,
} from './endpoint.ts';

/** A promise that never settles. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** A store of which every operation does the same. */
export function brokenStore(operate: () => Promise<never>): Store {
  return { claim: operate, renew: operate, complete: operate, release: operate };
}

export function failedAnswers(mount: Mount): void {
  describe('500', () => failedHandlers(mount));
  describe('503', () => unavailable(mount));
}

function failedHandlers(mount: Mount): void {
  const failing: Record<string, [code: ReportCode, handler: () => unknown]> = {
    'a handler that throws': [
      'handler_failed',
      () => {
        throw new Error(HANDLER_MESSAGE);
      },
    ],
    'a handler that rejects': ['handler_failed', () => Promise.reject(new Error(HANDLER_MESSAGE))],
    'a handler that throws no Error': ['handler_failed', () => Promise.reject(HANDLER_MESSAGE)],
    'a handler that says that no retry can help': [
      'handler_failed_permanently',
      () => Promise.reject(new PermanentError(HANDLER_MESSAGE)),
    ],
  };
  for (const [name, [code, handler]] of Object.entries(failing)) {
    test(`${name}; the next delivery is another attempt`, async () => {
      let runs = 0;
      const endpoint = await Endpoint.open(mount, {
        register: (receiver) =>
          receiver.on('transfer.*', () => {
            runs += 1;
            return runs === 1 ? handler() : undefined;
          }),
      });
      const event = transfer();
      expectProblem(await endpoint.send(event), 500, code);
      const report = await expectReport(endpoint, {
        outcome: 'failed',
        status: 500,
        code,
        event: { id: event.id, type: event.type },
        attempt: 1,
      });
      expect(report.error?.message).toContain(HANDLER_MESSAGE);
      expectAccepted(await endpoint.send(event), 'processed', event.id);
      expect(endpoint.reports[1]).toMatchObject({ outcome: 'processed', attempt: 2 });
    });
  }

  test('data that a schema refuses', async () => {
    const handled: string[] = [];
    const endpoint = await Endpoint.open(mount, {
      options: { schemas: { transfer: z.object({ amount: z.number(HANDLER_MESSAGE) }) } },
      register: (receiver) => receiver.on('transfer.*', (event) => handled.push(event.id)),
    });
    const event = createEvent('transfer.created', { amount: 'much' });
    expectProblem(await endpoint.send(event), 500, 'data_invalid');
    await expectReport(endpoint, { outcome: 'failed', status: 500, code: 'data_invalid' });
    expect(handled).toEqual([]);
  });
}

function unavailable(mount: Mount): void {
  test('handlers still running at the deadline; a concurrent duplicate is busy; a late success counts', async () => {
    const gate = new Gate();
    const endpoint = await Endpoint.open(mount, {
      options: { deadlineMs: 100 },
      register: (receiver) => receiver.on('transfer.*', () => gate.opened),
    });
    const event = transfer();
    expectProblem(await endpoint.send(event), 503, 'deadline_reached');
    await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'deadline_reached', attempt: 1 });
    expectProblem(await endpoint.send(event), 503, 'twin_running');
    expect(endpoint.reports).toHaveLength(2);
    expect(endpoint.reports[1]).toMatchObject({ outcome: 'busy', status: 503, code: 'twin_running' });
    gate.open();
    expect(await endpoint.report(2)).toMatchObject({
      late: true,
      outcome: 'processed',
      event: { id: event.id },
    });
    expectAccepted(await endpoint.send(event), 'duplicate', event.id);
    expect(endpoint.reports).toHaveLength(4);
  });

  test('a concurrent duplicate that another process still runs at the deadline', async () => {
    const store = createMemoryStore();
    const event = transfer();
    await store.claim({ id: event.id, token: 'of another process', leaseMs: 60_000, retentionMs: 60_000 });
    const endpoint = await Endpoint.open(mount, { options: { store, deadlineMs: 100 } });
    expectProblem(await endpoint.send(event), 503, 'twin_running');
    await expectReport(endpoint, { outcome: 'busy', status: 503, code: 'twin_running' });
  });

  const noStores = {
    'a store that rejects': brokenStore(() => Promise.reject(new Error(HANDLER_MESSAGE))),
    'a store that throws': brokenStore(() => {
      throw new Error(HANDLER_MESSAGE);
    }),
    'a store that never answers': brokenStore(never),
  };
  for (const [name, store] of Object.entries(noStores)) {
    test(`${name}`, async () => {
      await expectUnavailable(mount, { store, deadlineMs: 100 }, 'store_unavailable');
    });
  }

  const noKeys: Record<string, () => Promise<string | readonly string[]>> = {
    'a key source that rejects': () => Promise.reject(new Error(HANDLER_MESSAGE)),
    'a key source that throws': () => {
      throw new Error(HANDLER_MESSAGE);
    },
    'a key source that is late': never,
    'a key source that gives no key': async () => [],
    'a key source that gives an empty key': async () => '',
  };
  for (const [name, signingKey] of Object.entries(noKeys)) {
    test(`${name}`, async () => {
      await expectUnavailable(mount, { signingKey, deadlineMs: 100 }, 'keys_unavailable');
    });
  }

  test('no handler is registered', async () => {
    await expectUnavailable(mount, {}, 'no_handlers', () => {});
  });

  test('the memory for bodies is taken', async () => {
    const keys = new Gate();
    const asked = new Gate();
    const signingKey = async (): Promise<string> => {
      asked.open();
      await keys.opened;
      return KEY;
    };
    const event = transfer();
    const maxBodyBytes = Buffer.byteLength(JSON.stringify(event)) + 10;
    const limits = { maxBodyBytes, maxBufferedBytes: maxBodyBytes };
    const endpoint = await Endpoint.open(mount, { options: { signingKey, ...limits } });
    const first = endpoint.send(event);
    await asked.opened;
    expectProblem(await endpoint.send(transfer()), 503, 'buffer_full');
    await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'buffer_full' });
    keys.open();
    expectAccepted(await first, 'processed', event.id);
    const next = transfer();
    expectAccepted(await endpoint.send(next), 'processed', next.id);
  });

  test('closing', async () => {
    const endpoint = await Endpoint.open(mount);
    expect(await endpoint.receiver.close()).toEqual({ abandoned: [] });
    expectProblem(await endpoint.send(transfer()), 503, 'closing');
    await expectReport(endpoint, { outcome: 'failed', status: 503, code: 'closing' });
  });
}

async function expectUnavailable(
  mount: Mount,
  options: Partial<ReceiverOptions>,
  code: ReportCode,
  register?: (receiver: Receiver) => unknown,
): Promise<void> {
  const handled: string[] = [];
  const endpoint = await Endpoint.open(mount, {
    options,
    register: register ?? ((receiver) => receiver.on('*', (event) => handled.push(event.id))),
  });
  expectProblem(await endpoint.send(transfer()), 503, code);
  await expectReport(endpoint, { outcome: 'failed', status: 503, code });
  expect(handled).toEqual([]);
}
