import { once } from 'node:events';
import { createMemoryStore, PermanentError, type ReportCode, type Store } from 'posthorn';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import type { EndpointOptions } from '../support/open-endpoint.ts';
import { throwing } from '../support/throwing.ts';
import { bearer, leakyError, payload } from './secrets.ts';
import {
  fail,
  failLate,
  holding,
  json,
  LAST_MS,
  parking,
  type Situation,
  secretEvent,
  sendPart,
} from './situation.ts';

type Failure = Situation & { readonly name: ReportCode };

/** A memory store of which one operation is another. */
const storeWith = (operation: Partial<Store>): EndpointOptions => ({
  store: { ...createMemoryStore(), ...operation },
});

/** A store that says that the process of an earlier attempt died. */
function storeOfCrash(): Store {
  const store = createMemoryStore();
  const claim: Store['claim'] = async (wanted) => {
    const result = await store.claim(wanted);
    return result.state === 'claimed' ? { ...result, attempt: 2, abandoned: 1 } : result;
  };
  return { ...store, claim };
}

/** A schema whose issues carry the data along, as those of some libraries do. */
const refusing = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (input: unknown) => ({ issues: [{ message: 'must be less', path: ['amount'], input }] }),
  },
} as const;

/** A job as it might come out of a queue. */
function jobOf(body: string, handlers: readonly string[]): object {
  const rawBody = Buffer.from(body).toString('base64');
  return { version: 1, rawBody, headers: {}, receivedAt: Date.now(), handled: [], handlers };
}

/** How each code of what failed comes about. */
export const failures: readonly Failure[] = [
  {
    name: 'handler_failed',
    expected: { status: 500, final: false },
    register: (receiver) => receiver.on('*', fail, { name: 'book' }).on('*', failLate),
    run: ({ send }) => send(secretEvent(), { authentication: bearer }),
  },
  {
    name: 'handler_failed_permanently',
    expected: { status: 500 },
    register: (receiver) =>
      receiver.on('*', throwing(new PermanentError('no account', { cause: leakyError('not there') }))),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'data_invalid',
    expected: { status: 500 },
    options: () => ({ schemas: { transfer: refusing } }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'body_already_parsed',
    expected: { status: 500 },
    middleware: (incoming, next) => void incoming.resume().once('end', next),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'configuration_invalid',
    expected: { status: 500 },
    run: ({ receiver }) =>
      Reflect.apply(receiver.receive, receiver, [{ method: 'POST', headers: {}, body: json }]),
  },
  {
    name: 'internal_error',
    expected: { status: 500 },
    middleware: (incoming, next) => {
      Object.defineProperty(incoming, 'rawBody', { get: fail });
      next();
    },
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'deadline_reached',
    expected: { status: 503, late: false },
    options: () => ({ deadlineMs: 100 }),
    register: holding,
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'run_timeout',
    expected: { status: 503, late: true },
    options: () => ({ deadlineMs: 100, maxRunMs: 300 }),
    register: holding,
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'run_closed',
    expected: { status: 503 },
    register: holding,
    run: async ({ receiver, send, held }) => {
      const answer = send(secretEvent());
      await held.calls.nth(1);
      await receiver.close({ graceMs: 0 });
      await answer;
    },
  },
  {
    name: 'run_abandoned',
    expected: { outcome: 'parked', status: 200 },
    options: () => ({ ...parking(), store: storeOfCrash() }),
    run: ({ send }) => send(secretEvent(LAST_MS)),
  },
  {
    name: 'store_unavailable',
    expected: { status: 503 },
    options: () => storeWith({ claim: fail }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'keys_unavailable',
    expected: { status: 503 },
    options: () => ({ signingKey: failLate }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'buffer_full',
    expected: { status: 503 },
    options: () => ({ maxBodyBytes: 1_000, maxBufferedBytes: 1_000 }),
    run: async ({ url }) => {
      const sent = [await sendPart(url, 900, 1_000), await sendPart(url, 900, 1_000)];
      await Promise.race(sent.map((outgoing) => once(outgoing, 'response')));
    },
  },
  {
    name: 'closing',
    expected: { status: 503 },
    run: async ({ receiver, send }) => {
      await receiver.close();
      await send(secretEvent());
    },
  },
  {
    name: 'queue_unavailable',
    expected: { status: 503 },
    options: () => {
      const queue = new ListQueue();
      queue.instead = failLate;
      return { queue };
    },
    register: (receiver) => receiver.on('*', () => {}, { name: 'book', queue: true }),
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'too_many_running',
    expected: { status: 503 },
    options: () => ({ maxRunning: 1, deadlineMs: 300 }),
    register: holding,
    run: async ({ send, held }) => {
      const first = send(secretEvent());
      await held.calls.nth(1);
      await Promise.all([first, send(secretEvent())]);
    },
  },
  {
    name: 'job_unreadable',
    expected: { status: 500 },
    run: ({ receiver }) =>
      receiver.dispatch(jobOf(`${payload.iban} ${payload.card}`, []), { attempt: 1, final: false }),
  },
  {
    name: 'handler_missing',
    expected: { status: 500 },
    run: ({ receiver }) => receiver.dispatch(jobOf(json, ['gone']), { attempt: 1, final: false }),
  },
  {
    name: 'no_handlers',
    expected: { status: 503 },
    register: () => {},
    run: ({ send }) => send(secretEvent()),
  },
  {
    name: 'event_running',
    expected: { outcome: 'busy', status: 503 },
    options: () => ({ deadlineMs: 300 }),
    register: holding,
    run: async ({ send, held }) => {
      const event = secretEvent();
      const first = send(event);
      await held.calls.nth(1);
      await Promise.all([first, send(event)]);
    },
  },
  {
    name: 'key_busy',
    expected: { outcome: 'busy', status: 503 },
    options: () => ({ deadlineMs: 2_000 }),
    register: (receiver, held) =>
      receiver.on('transfer.*', held.handle, { name: 'book', concurrencyKey: () => payload.iban }),
    run: async ({ send, held }) => {
      const first = send(secretEvent());
      await held.calls.nth(1);
      await Promise.all([first, send(secretEvent())]);
    },
  },
];
