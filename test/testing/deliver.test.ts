import {
  ConfigurationError,
  createMemoryStore,
  createReceiver,
  PermanentError,
  type Receiver,
  type Store,
} from 'posthorn';
import { createEvent, type DeliverOptions, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import {
  type Answer,
  accepted,
  type Endpoint,
  type EndpointOptions,
  openEndpoint,
  readAnswer,
  refused,
} from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { throwing } from '../support/throwing.ts';

const event = createEvent('transfer.succeeded', { id: 'TR1', amount: 12 });
const forms = ['over HTTP', 'without a server'] as const;

interface Opened extends Endpoint {
  /** Delivers in the form that is tested. */
  readonly deliverTo: (
    sent: object | string | Uint8Array,
    options?: Partial<DeliverOptions>,
  ) => Promise<Answer>;
}

type Register = (receiver: Receiver) => void;

async function open(
  form: (typeof forms)[number],
  options: EndpointOptions,
  register: Register,
): Promise<Opened> {
  const endpoint = await openEndpoint(options, register);
  const to = form === 'over HTTP' ? endpoint.url : endpoint.receiver;
  return {
    ...endpoint,
    deliverTo: async (sent, more) => readAnswer(await deliver(to, sent, { key: KEY, ...more })),
  };
}

const succeed: Register = (receiver) => receiver.on('*', () => {});
const awayStore: Store = {
  ...createMemoryStore(),
  claim: () => Promise.reject(new Error('the store is away')),
};

/** Those answers that test/receiver/outcomes/outcome.test.ts does not have. */
const cases: readonly {
  readonly name: string;
  readonly options?: () => EndpointOptions;
  readonly register?: Register;
  readonly act?: (opened: Opened) => Promise<readonly Answer[]>;
  readonly answers: readonly Answer[];
}[] = [
  {
    name: 'queued, and then a duplicate',
    options: () => ({ queue: new ListQueue() }),
    register: (receiver) => receiver.on('transfer.*', () => {}, { name: 'book', queue: true }),
    act: async ({ deliverTo }) => [await deliverTo(event), await deliverTo(event)],
    answers: [{ ...accepted('queued', event.id), status: 202 }, accepted('duplicate', event.id)],
  },
  {
    name: 'parked on the last attempt',
    options: () => ({ deadLetters: createMapDeadLetters(), now: () => Date.now() + 15 * MINUTE_MS }),
    register: (receiver) => receiver.on('*', throwing('again')),
    answers: [accepted('parked', event.id)],
  },
  {
    name: 'busy, beside a run that goes on',
    options: () => ({ deadlineMs: 200 }),
    register: (receiver) => receiver.on('*', new HeldHandler().handle),
    act: ({ deliverTo }) => Promise.all([deliverTo(event), deliverTo(event)]),
    answers: [refused(503, 'deadline_reached'), refused(503, 'event_running')],
  },
  {
    name: 'no store',
    options: () => ({ store: awayStore }),
    answers: [refused(503, 'store_unavailable')],
  },
  {
    name: 'no keys',
    options: () => ({ signingKey: () => Promise.reject(new Error('the vault is sealed')) }),
    answers: [refused(503, 'keys_unavailable')],
  },
  { name: 'no handlers', register: () => {}, answers: [refused(503, 'no_handlers')] },
  {
    name: 'closing',
    act: async ({ receiver, deliverTo }) => {
      await receiver.close();
      return [await deliverTo(event)];
    },
    answers: [refused(503, 'closing')],
  },
  {
    name: 'a string and bytes, which are sent as they are',
    act: async ({ deliverTo }) => {
      const body = ` ${JSON.stringify(event)}`;
      return [await deliverTo(body), await deliverTo(Buffer.from(body)), await deliverTo('')];
    },
    answers: [
      accepted('processed', event.id),
      accepted('duplicate', event.id),
      refused(400, 'body_not_json'),
    ],
  },
  {
    name: 'headers besides and instead, and another name of the signature',
    options: () => ({ signatureHeader: 'x-vendor-signature' }),
    act: async ({ deliverTo }) => [
      await deliverTo(event, { signatureHeader: 'x-vendor-signature', headers: { 'x-trace': 't' } }),
      await deliverTo(event, {
        signatureHeader: 'x-vendor-signature',
        headers: { 'content-encoding': 'br' },
      }),
      await deliverTo(event, {
        signatureHeader: 'X-Vendor-Signature',
        headers: { 'x-vendor-signature': 'a' },
      }),
      await deliverTo(event),
    ],
    answers: [
      accepted('processed', event.id),
      refused(415, 'encoding_unsupported'),
      refused(403, 'signature_malformed'),
      refused(403, 'signature_missing'),
    ],
  },
];

describe.each(forms)('deliver %s', (form) => {
  test.each(cases)('$name', async ({ options, register = succeed, act, answers }) => {
    const opened = await open(form, options?.() ?? {}, register);
    expect(await (act?.(opened) ?? opened.deliverTo(event).then((answer) => [answer]))).toEqual(answers);
    for (const { answerSent } of opened.reports.all) expect(answerSent).toBe(true);
  });

  test('the handler gets the event, and its late end is reported', async () => {
    const held = new HeldHandler();
    const opened = await open(form, { deadlineMs: 100 }, (receiver) => receiver.on('*', held.handle));
    expect(await opened.deliverTo(event)).toEqual(refused(503, 'deadline_reached'));
    held.calls.all[0]?.succeed();
    expect(JSON.parse(String(held.calls.all[0]?.context.rawBody))).toEqual(event);
    expect(await opened.reports.first(({ late }) => late)).toMatchObject({ outcome: 'processed' });
    expect(await opened.deliverTo(event)).toEqual(accepted('duplicate', event.id));
  });

  test('rejects with the reason of its signal when that aborts', async () => {
    const held = new HeldHandler();
    const opened = await open(form, {}, (receiver) => receiver.on('*', held.handle));
    const abort = new AbortController();
    const delivery = opened.deliverTo(event, { signal: abort.signal });
    const { context, succeed: end } = await held.calls.nth(1);
    abort.abort(new Error('gave up'));
    await expect(delivery).rejects.toThrow('gave up');
    expect(context.signal.aborted).toBe(false);
    end();
    expect(await opened.reports.nth(1)).toMatchObject({ outcome: 'processed' });
  });

  test('sends nothing when its signal has aborted before', async () => {
    const opened = await open(form, {}, succeed);
    const signal = AbortSignal.abort(new Error('gave up'));
    await expect(opened.deliverTo(event, { signal })).rejects.toThrow('gave up');
    expect(await opened.deliverTo(event)).toEqual(accepted('processed', event.id));
    expect(opened.reports.all).toHaveLength(1);
  });

  test('a signal that never aborts changes nothing', async () => {
    const opened = await open(form, {}, succeed);
    const { signal } = new AbortController();
    expect(await opened.deliverTo(event, { signal })).toEqual(accepted('processed', event.id));
  });

  test.each([
    { name: 'no options', options: undefined, message: /deliver takes an object of options, got undefined/ },
    { name: 'no key', options: {}, message: /key/ },
    { name: 'an empty key', options: { key: '' }, message: /key/ },
    {
      name: 'a misspelt option',
      options: { key: KEY, header: {} },
      message: /"header" is not an option of deliver/,
    },
  ])('rejects with a ConfigurationError for $name', async ({ options, message }) => {
    const { url, receiver } = await open(form, {}, succeed);
    const to = form === 'over HTTP' ? url : receiver;
    const error: unknown = await Reflect.apply(deliver, undefined, [to, event, options]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toMatch(message);
  });
});

test('what is neither an address nor a receiver is refused, and named', async () => {
  const { receive } = createReceiver({ signingKey: KEY });
  for (const [to, shown] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [5, 'number'],
    [{}, 'Object'],
    [receive, 'function'],
    ['', '""'],
    ['/webhooks', '"/webhooks"'],
  ]) {
    const error: unknown = await Reflect.apply(deliver, undefined, [to, event, { key: KEY }]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toMatch(/deliver takes the address of an endpoint, such as .*, or a receiver/);
    expect(String(error).endsWith(`got ${shown}`)).toBe(true);
  }
});

test('delivers to a receiver while the timers of the process are fake', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'Date', 'performance', 'queueMicrotask'] });
  onTestFinished(() => void vi.useRealTimers());
  const receiver = createReceiver({ signingKey: KEY }).on('*', async () => {});
  expect((await deliver(receiver, createEvent('transfer.created'), { key: KEY })).status).toBe(200);
});

test('takes a URL, and a receiver with schemas', async () => {
  const { url } = await openEndpoint({}, succeed);
  expect((await deliver(new URL(url), event, { key: KEY })).status).toBe(200);
  const typed = createReceiver({
    signingKey: KEY,
    schemas: { transfer: z.object({ amount: z.literal(12) }) },
  });
  typed.on('transfer.*', () => {}).observe(() => {});
  expect((await deliver(typed, event, { key: KEY })).status).toBe(200);
});

test('a receiver whose delivery was given up reports that nobody took the answer', async () => {
  const held = new HeldHandler();
  const { receiver, reports } = await openEndpoint({}, (each) => each.on('*', held.handle));
  const abort = new AbortController();
  const delivery = deliver(receiver, event, { key: KEY, signal: abort.signal });
  const { succeed: end } = await held.calls.nth(1);
  abort.abort();
  await expect(delivery).rejects.toMatchObject({ name: 'AbortError' });
  end();
  expect(await reports.nth(1)).toMatchObject({ outcome: 'processed', answerSent: false });
});

test('a PermanentError is told by the report, not by the answer', async () => {
  const { receiver, reports } = await openEndpoint({}, (each) =>
    each.on('*', throwing(new PermanentError('the account is closed')), { name: 'book' }),
  );
  const response = await deliver(receiver, event, { key: KEY });
  expect(await response.text()).not.toContain('the account is closed');
  expect(reports.all).toMatchObject([
    { code: 'handler_failed_permanently', handlers: [{ name: 'book', ok: false }], attempt: 1 },
  ]);
  expect(reports.all[0]?.error?.cause).toMatchObject({ message: 'the account is closed' });
});
