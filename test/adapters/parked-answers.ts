import { createHash } from 'node:crypto';
import {
  createMemoryStore,
  type DeadLetters,
  PermanentError,
  type Receiver,
  type ReceiverOptions,
  type ReportCode,
} from 'posthorn';
import { signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import {
  BASIC,
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  HANDLER_MESSAGE,
  KEY,
  type Mount,
  transfer,
} from './endpoint.ts';
import { brokenStore, never } from './failed-answers.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** So old that nine tenths of the last delay are over: no further retry can be counted on. */
function lastAttempt(): ReturnType<typeof transfer> {
  return { ...transfer(), created_at: new Date(NOW - 0.9 * 900_000).toISOString() };
}

export function parkedAnswers(mount: Mount): void {
  const bodies = {
    'a body that is no JSON': 'no JSON',
    'an envelope without an id': JSON.stringify({ type: 'transfer.created' }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(`${name} is parked under its SHA-256, without its credentials`, async () => {
      const deadLetters = createMapDeadLetters();
      const endpoint = await Endpoint.open(mount, { options: { deadLetters, authentication: BASIC } });
      const id = createHash('sha256').update(body).digest('hex');
      const headers = signedHeaders(body, { key: KEY, authentication: BASIC });
      expectAccepted(await endpoint.send(body, { ...headers, cookie: 'a=b' }), 'parked', id);
      const report = await expectReport(endpoint, { outcome: 'parked', status: 200 });
      const letter = await deadLetters.get(id);
      expect(letter).toMatchObject({ id, reason: report.code, rawBody: Buffer.from(body) });
      expect(letter?.headers).toMatchObject({ 'content-type': ['application/json'] });
      expect(Object.keys(letter?.headers ?? {})).not.toContain('authorization');
      expect(Object.keys(letter?.headers ?? {})).not.toContain('cookie');
    });
  }

  test('an event that is too old is parked under its id', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await Endpoint.open(mount, { options: { deadLetters } });
    const event = { ...transfer(), created_at: '2020-01-01T00:00:00Z' };
    expectAccepted(await endpoint.send(event), 'parked', event.id);
    await expectReport(endpoint, {
      outcome: 'parked',
      code: 'event_too_old',
      event: { id: event.id, type: event.type },
    });
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'event_too_old' });
  });

  test('nothing is parked that was not authenticated', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await Endpoint.open(mount, { options: { deadLetters, now: () => NOW } });
    const forged = await endpoint.send('no JSON', { 'x-service-signature': '0'.repeat(64) });
    expectProblem(forged, 403, 'signature_mismatch');
    for await (const letter of deadLetters.list()) expect.unreachable(`parked: ${letter.id}`);
  });

  test('a permanent failure is parked at the first attempt', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await Endpoint.open(mount, {
      options: { deadLetters },
      register: (receiver) =>
        receiver.on('transfer.*', () => Promise.reject(new PermanentError(HANDLER_MESSAGE))),
    });
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'parked', event.id);
    await expectReport(endpoint, { outcome: 'parked', code: 'handler_failed_permanently', attempt: 1 });
  });

  const failures: Record<string, FinalFailure> = {
    'a handler that throws': {
      code: 'handler_failed',
      register: (receiver) => receiver.on('*', () => Promise.reject(new Error(HANDLER_MESSAGE))),
    },
    'a handler that passes the deadline': {
      code: 'deadline_reached',
      register: (receiver) => receiver.on('*', never),
    },
    'a store that rejects': {
      code: 'store_unavailable',
      options: { store: brokenStore(() => Promise.reject(new Error(HANDLER_MESSAGE))) },
    },
    'a store that never answers': {
      code: 'store_unavailable',
      options: { store: brokenStore(never) },
    },
    'no handler': { code: 'no_handlers', register: () => {} },
  };
  for (const [name, { code, options, register }] of Object.entries(failures)) {
    test(`at the last attempt by age: ${name}`, async () => {
      const deadLetters = createMapDeadLetters();
      const endpoint = await Endpoint.open(mount, {
        options: { deadLetters, now: () => NOW, deadlineMs: 1_000, ...options },
        ...(register !== undefined && { register }),
      });
      const event = lastAttempt();
      expectAccepted(await endpoint.send(event), 'parked', event.id);
      await expectReport(endpoint, { outcome: 'parked', status: 200, code, endpointAtRisk: false });
      expect(await deadLetters.get(event.id)).toMatchObject({ id: event.id, type: event.type });
    });
  }

  test('at the last attempt by age: closing', async () => {
    const deadLetters = createMapDeadLetters();
    const endpoint = await Endpoint.open(mount, { options: { deadLetters, now: () => NOW } });
    await endpoint.receiver.close();
    const event = lastAttempt();
    expectAccepted(await endpoint.send(event), 'parked', event.id);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'closing' });
  });

  test('at the last attempt by age: a concurrent duplicate that another process still runs', async () => {
    const deadLetters = createMapDeadLetters();
    const store = createMemoryStore();
    const event = lastAttempt();
    await store.claim({ id: event.id, token: 'of another process', leaseMs: 60_000, retentionMs: 60_000 });
    const options = { deadLetters, store, now: () => NOW, deadlineMs: 1_000 };
    const endpoint = await Endpoint.open(mount, { options });
    expectAccepted(await endpoint.send(event), 'parked', event.id);
    await expectReport(endpoint, { outcome: 'parked', code: 'twin_running' });
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'twin_running' });
  });

  test('without dead letters the last attempt fails as any other, and the endpoint is at risk', async () => {
    const endpoint = await Endpoint.open(mount, {
      options: { now: () => NOW },
      register: (receiver) => receiver.on('*', () => Promise.reject(new Error(HANDLER_MESSAGE))),
    });
    expectProblem(await endpoint.send(lastAttempt()), 500, 'handler_failed');
    await expectReport(endpoint, { outcome: 'failed', final: true, endpointAtRisk: true });
  });

  test('dead letters that cannot be written park nothing', async () => {
    const full = (): Promise<never> => Promise.reject(new Error('ENOSPC'));
    const deadLetters: DeadLetters = { put: full, get: full, remove: full, list: async function* () {} };
    const endpoint = await Endpoint.open(mount, { options: { deadLetters } });
    expectProblem(await endpoint.send('no JSON'), 400, 'body_not_json');
    const report = await expectReport(endpoint, { outcome: 'rejected', code: 'body_not_json' });
    expect(report.warnings.join()).toContain('dead_letter_not_stored');
  });
}

interface FinalFailure {
  readonly code: ReportCode;
  readonly options?: Partial<ReceiverOptions>;
  readonly register?: (receiver: Receiver) => unknown;
}
