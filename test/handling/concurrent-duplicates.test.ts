import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  createMemoryStore,
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type Report,
} from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { awaitedLater } from '../support/awaited-later.ts';

const key = 'duplicates-key';
const closers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

interface Process {
  readonly receiver: Receiver;
  readonly reports: Report[];
  readonly send: (event: object) => Promise<{ status: number; outcome?: unknown; code?: unknown }>;
  /** Resolves once so many requests have arrived: how long a socket takes says nothing of what follows. */
  readonly arrived: (count: number) => Promise<void>;
}

/** A receiver on a server of its own. Two that share a store stand for two processes. */
async function startProcess(options: Partial<ReceiverOptions> = {}): Promise<Process> {
  const receiver = createReceiver({ signingKey: key, deadlineMs: 2_000, ...options });
  const reports: Report[] = [];
  receiver.observe((report) => reports.push(report));
  const server = createServer(toNode(receiver)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let arrivals = 0;
  server.prependListener('request', () => {
    arrivals += 1;
  });
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await receiver.close({ graceMs: 0 });
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const sendAndRead = async (event: object): ReturnType<Process['send']> => {
    const response = await deliver(url, event, { key });
    return { status: response.status, ...JSON.parse(await response.text()) };
  };
  const send: Process['send'] = (event) => awaitedLater(sendAndRead(event));
  return { receiver, reports, send, arrived: (count) => until(() => arrivals >= count) };
}

test('a handler that writes into its event changes nothing of its retry', async () => {
  const { receiver, reports, send } = await startProcess();
  let runs = 0;
  receiver.on('transfer.created', (event) => {
    runs += 1;
    Reflect.set(event, 'id', 'another');
    throw new Error('fails');
  });
  const event = createEvent('transfer.created');
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    expect(await send(event)).toMatchObject({ status: 500, code: 'handler_failed' });
    expect(runs).toBe(attempt);
    expect(reports.at(-1)).toMatchObject({ attempt });
  }
});

/** A handler that runs until it is told how to end. */
function controlledHandler() {
  const runs: { succeed: () => void; fail: () => void }[] = [];
  const starts: (() => void)[] = [];
  return {
    runs,
    started: (): Promise<void> => new Promise((resolve) => starts.push(resolve)),
    handle: (): Promise<void> =>
      new Promise((resolve, reject) => {
        runs.push({ succeed: resolve, fail: () => reject(new Error('it failed')) });
        for (const start of starts.splice(0)) start();
      }),
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Whether a promise has settled once everything that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setTimeout(resolve, 30, pending));
  return (await Promise.race([promise, turn])) !== pending;
}

describe('concurrent duplicates in one process', () => {
  test('a concurrent duplicate waits for the first run, and is a duplicate once it has succeeded', async () => {
    const { handle, started, runs } = controlledHandler();
    const { receiver, send, arrived } = await startProcess();
    receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = send(event);
    await started();
    const duplicate = send(event);
    await arrived(2);
    expect(await isSettled(duplicate)).toBe(false);
    runs[0]?.succeed();
    expect(await first).toEqual({ status: 200, outcome: 'processed', id: event.id });
    expect(await duplicate).toEqual({ status: 200, outcome: 'duplicate', id: event.id });
    expect(runs).toHaveLength(1);
  });

  test('a concurrent duplicate of a run that fails is not answered 2xx, and the retry runs again', async () => {
    const { handle, started, runs } = controlledHandler();
    const { receiver, send, arrived } = await startProcess();
    receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = send(event);
    await started();
    const duplicate = send(event);
    await arrived(2);
    expect(await isSettled(duplicate)).toBe(false);
    runs[0]?.fail();
    expect(await first).toMatchObject({ status: 500, code: 'handler_failed' });
    expect(await duplicate).toMatchObject({ status: 500, code: 'handler_failed' });
    const again = started();
    const retry = send(event);
    await again;
    runs[1]?.succeed();
    expect(await retry).toMatchObject({ status: 200, outcome: 'processed' });
  });

  test('while the first run is past its deadline, a concurrent duplicate is busy; once it succeeds, a duplicate', async () => {
    const { handle, started, runs } = controlledHandler();
    const { receiver, send, reports } = await startProcess({ deadlineMs: 150 });
    receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = send(event);
    await started();
    expect(await first).toMatchObject({ status: 503, code: 'deadline_reached' });
    expect(await send(event)).toMatchObject({ status: 503, code: 'event_running' });
    const joined = send(event);
    runs[0]?.succeed();
    expect(await joined).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(runs).toHaveLength(1);
    await until(() => reports.length === 4);
    expect(reports.filter(({ late }) => !late)).toMatchObject([
      { outcome: 'failed', attempt: 1, endpointAtRisk: false },
      { outcome: 'busy' },
      { outcome: 'duplicate' },
    ]);
    expect(reports.filter(({ late }) => late)).toMatchObject([{ outcome: 'processed', status: 200 }]);
  });

  test('fifty concurrent duplicates at once: one run, one processed, the others duplicates', async () => {
    const { handle, started, runs } = controlledHandler();
    const { receiver, send, reports } = await startProcess();
    receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const start = started();
    const answers = Array.from({ length: 50 }, () => send(event));
    await start;
    expect(await isSettled(Promise.race(answers))).toBe(false);
    runs[0]?.succeed();
    const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(49);
    expect(runs).toHaveLength(1);
    await until(() => reports.length === 50);
  });
});

describe('concurrent duplicates in two processes that share a store', () => {
  test('the concurrent duplicate learns of the success by asking the store', async () => {
    const store = createMemoryStore();
    const { handle, started, runs } = controlledHandler();
    const [a, b] = [await startProcess({ store }), await startProcess({ store })];
    a.receiver.on('*', handle);
    b.receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = a.send(event);
    await started();
    const duplicates = [b.send(event), b.send(event)];
    expect(await isSettled(Promise.race(duplicates))).toBe(false);
    runs[0]?.succeed();
    expect(await first).toMatchObject({ outcome: 'processed' });
    for (const duplicate of duplicates)
      expect(await duplicate).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(runs).toHaveLength(1);
  });

  test('the concurrent duplicate runs the handlers itself when the first run has failed', async () => {
    const store = createMemoryStore();
    const { handle, started, runs } = controlledHandler();
    const [a, b] = [await startProcess({ store }), await startProcess({ store })];
    a.receiver.on('*', handle);
    b.receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = a.send(event);
    await started();
    const duplicate = b.send(event);
    const again = started();
    runs[0]?.fail();
    expect(await first).toMatchObject({ status: 500 });
    await again;
    runs[1]?.succeed();
    expect(await duplicate).toMatchObject({ status: 200, outcome: 'processed' });
    expect(b.reports).toMatchObject([{ attempt: 2, outcome: 'processed' }]);
  });

  test('the concurrent duplicate takes over when the lease of a dead process ends', async () => {
    const store = createMemoryStore();
    const event = createEvent('transfer.created');
    await store.claim({ id: event.id, token: 'dead', leaseMs: 200, retentionMs: 60_000 });
    const { receiver, send, reports } = await startProcess({ store });
    receiver.on('*', () => {});
    expect(await send(event)).toMatchObject({ status: 200, outcome: 'processed' });
    expect(reports).toMatchObject([{ attempt: 2, final: false }]);
  });

  test('the concurrent duplicate is busy when the other process still runs at the deadline', async () => {
    const store = createMemoryStore();
    const event = createEvent('transfer.created');
    await store.claim({ id: event.id, token: 'other', leaseMs: 60_000, retentionMs: 60_000 });
    const { receiver, send } = await startProcess({ store, deadlineMs: 200 });
    const { handle, runs } = controlledHandler();
    receiver.on('*', handle);
    expect(await send(event)).toMatchObject({ status: 503, code: 'event_running' });
    expect(runs).toHaveLength(0);
  });

  test('a long run keeps its lease', async () => {
    const store = createMemoryStore();
    const { handle, started, runs } = controlledHandler();
    const [a, b] = [
      await startProcess({ store, leaseMs: 600, deadlineMs: 10_000 }),
      await startProcess({ store, leaseMs: 600, deadlineMs: 2_000 }),
    ];
    a.receiver.on('*', handle);
    b.receiver.on('*', handle);
    const event = createEvent('transfer.created');
    const first = a.send(event);
    await started();
    expect(await b.send(event)).toMatchObject({ status: 503, code: 'event_running' });
    runs[0]?.succeed();
    expect(await first).toMatchObject({ outcome: 'processed' });
    expect(runs).toHaveLength(1);
  });
});
