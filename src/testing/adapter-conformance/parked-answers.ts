import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { PermanentError } from '../../receiver/errors.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import type { Receiver, ReceiverOptions } from '../../receiver-interface.ts';
import { createMemoryStore } from '../../stores/memory/memory.ts';
import { signedHeaders } from '../signed-headers.ts';
import { AS_IT_IS } from './advice.ts';
import { expectAccepted, expectEqual, expectMembers, expectProblem } from './answer.ts';
import { type Check, checksOf, type Group } from './case.ts';
import { BASIC, HANDLER_MESSAGE, KEY, transfer } from './delivery.ts';
import { expectReport } from './endpoint.ts';
import { brokenStore } from './unavailable-answers.ts';
import { never } from './waits.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** An event so old that nine tenths of the last delay are over: no further retry can be counted on. */
function lastAttempt(): WebhookEvent {
  return { ...transfer(), created_at: new Date(NOW - 0.9 * 900_000).toISOString() };
}

/** Dead letters in memory, because no case tests their durability. */
class MapDeadLetters implements DeadLetters {
  readonly #letters = new Map<string, DeadLetter>();

  async put(letter: DeadLetter): Promise<void> {
    this.#letters.set(letter.id, letter);
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    return this.#letters.get(id);
  }

  async remove(id: string): Promise<boolean> {
    return this.#letters.delete(id);
  }

  async *list(): AsyncIterable<DeadLetter> {
    yield* this.#letters.values();
  }

  /** The letter with an id, which must be there. */
  letter(id: string): DeadLetter {
    return this.#letters.get(id) ?? assert.fail(`no letter is stored under ${id}`);
  }
}

function parkUnreadable(body: string): Check {
  return async (bench) => {
    const deadLetters = new MapDeadLetters();
    const endpoint = await bench.open({ options: { deadLetters, authentication: BASIC } });
    const id = createHash('sha256').update(body).digest('hex');
    const headers = signedHeaders(body, { key: KEY, authentication: BASIC });
    expectAccepted(await endpoint.send(body, { ...headers, cookie: 'a=b' }), 'parked', id);
    const report = await expectReport(endpoint, { outcome: 'parked', status: 200 });
    const letter = deadLetters.letter(id);
    expectEqual([letter.id, letter.reason], [id, report.code], 'the id and the reason of the letter');
    expectEqual(Buffer.from(letter.rawBody).toString(), body, 'the raw body of the letter');
    expectEqual(letter.headers['content-type'], ['application/json'], 'the content type of the letter');
    const credentials = ['authorization', 'cookie'].filter((name) => name in letter.headers);
    expectEqual(credentials, [], 'the credentials in the letter');
  };
}

interface Parking {
  readonly code: ReportCode;
  /** The reason of the letter; by default the code. */
  readonly reason?: DeadLetter['reason'];
  readonly event?: WebhookEvent;
  /** Further members of the report. */
  readonly report?: Partial<Report>;
  readonly options?: Partial<ReceiverOptions>;
  readonly register?: (receiver: Receiver) => unknown;
  /** Called before the delivery. */
  readonly prepare?: (receiver: Receiver) => Promise<unknown>;
}

/** The check that an event is parked under its id. */
function parks({ code, reason = code, event = transfer(), ...parking }: Parking): Check {
  return async (bench) => {
    const deadLetters = new MapDeadLetters();
    const { options, register } = parking;
    const endpoint = await bench.open({ options: { deadLetters, ...options }, register });
    await parking.prepare?.(endpoint.receiver);
    const { id, type } = event;
    expectAccepted(await endpoint.send(event), 'parked', id);
    await expectReport(endpoint, {
      outcome: 'parked',
      status: 200,
      code,
      event: { id, type },
      endpointAtRisk: false,
      ...parking.report,
    });
    expectMembers(deadLetters.letter(id), { id, type, reason }, 'the letter');
  };
}

/** The check that the last attempt of an event, by its age, is parked. */
function parksLast({ options, ...parking }: Parking): Check {
  const event = lastAttempt();
  return parks({ event, options: { now: () => NOW, deadlineMs: 1_000, ...options }, ...parking });
}

const reject = (): Promise<never> => Promise.reject(new Error(HANDLER_MESSAGE));

const lastAttempts: Readonly<Record<string, Parking>> = {
  'at the last attempt by age: a handler that throws': {
    code: 'handler_failed',
    register: (receiver) => receiver.on('*', reject),
  },
  'at the last attempt by age: a handler that passes the deadline': {
    code: 'deadline_reached',
    reason: 'run_abandoned',
    register: (receiver) => receiver.on('*', never),
  },
  'at the last attempt by age: a store that rejects': {
    code: 'store_unavailable',
    options: { store: brokenStore(reject) },
  },
  'at the last attempt by age: no handler': { code: 'no_handlers', register: () => {} },
  'at the last attempt by age: closing': { code: 'closing', prepare: (receiver) => receiver.close() },
};

export const parkedAnswers: Group = {
  name: 'parked',
  advice: AS_IT_IS,
  checks: {
    'a body that is not JSON is parked under its SHA-256, without its credentials': parkUnreadable('no JSON'),
    'an envelope without an id is parked under its SHA-256, without its credentials': parkUnreadable(
      JSON.stringify({ type: 'transfer.created' }),
    ),
    'an event that is too old is parked under its id': parks({
      code: 'event_too_old',
      event: { ...transfer(), created_at: '2020-01-01T00:00:00Z' },
    }),
    'nothing is parked that was not authenticated': async (bench) => {
      const deadLetters = new MapDeadLetters();
      const endpoint = await bench.open({ options: { deadLetters, now: () => NOW } });
      const forged = await endpoint.send('no JSON', { 'x-service-signature': '0'.repeat(64) });
      expectProblem(forged, 403, 'signature_mismatch');
      for await (const letter of deadLetters.list()) assert.fail(`${letter.id} was parked`);
    },
    'a permanent failure is parked at the first attempt': parks({
      code: 'handler_failed_permanently',
      report: { attempt: 1 },
      register: (receiver) =>
        receiver.on('transfer.*', () => Promise.reject(new PermanentError(HANDLER_MESSAGE))),
    }),
    ...checksOf(lastAttempts, parksLast),
    'at the last attempt by age: a store that never answers': (bench) => {
      const options = { store: brokenStore(bench.unanswered) };
      return parksLast({ code: 'store_unavailable', options })(bench);
    },
    'at the last attempt by age: a concurrent duplicate that another process still runs': (bench) => {
      const store = createMemoryStore();
      const event = lastAttempt();
      const claim = { id: event.id, token: 'of another process', leaseMs: 60_000, retentionMs: 60_000 };
      const prepare = async (): Promise<unknown> => store.claim(claim);
      return parksLast({ code: 'event_running', event, options: { store }, prepare })(bench);
    },
    'without dead letters the last attempt fails like any other, and the endpoint is at risk': async (
      bench,
    ) => {
      const endpoint = await bench.open({
        options: { now: () => NOW },
        register: (receiver) => receiver.on('*', reject),
      });
      expectProblem(await endpoint.send(lastAttempt()), 500, 'handler_failed');
      await expectReport(endpoint, { outcome: 'failed', final: true, endpointAtRisk: true });
    },
    'dead letters that cannot be written park nothing': async (bench) => {
      const full = (): Promise<never> => Promise.reject(new Error('ENOSPC'));
      const deadLetters: DeadLetters = { put: full, get: full, remove: full, list: async function* () {} };
      const endpoint = await bench.open({ options: { deadLetters } });
      expectProblem(await endpoint.send('no JSON'), 400, 'body_not_json');
      const { warnings } = await expectReport(endpoint, { outcome: 'rejected', code: 'body_not_json' });
      assert.match(warnings.join(), /dead_letter_not_stored/, 'the report must warn of the letter');
    },
  },
};
