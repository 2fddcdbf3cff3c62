import {
  createMemoryStore,
  createReceiver,
  type DeadLetter,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type TypedEvent,
} from 'posthorn';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ourAdapters } from '../../../adapters/our-adapters.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { KEY, serve } from '../../../support/served.ts';
import { chat, chatHeaders } from '../../provider/senders.ts';

const question = '{"type":"question","challenge":"3eZbrw1aB"}';

type NoSchemas = Record<never, never>;

function create(options: Partial<ReceiverOptions<NoSchemas, TypedEvent>> = {}) {
  const reports: Report[] = [];
  const receiver = createReceiver({ provider: chat<TypedEvent>(), signingKey: KEY, ...options });
  receiver.observe((report) => reports.push(report));
  return { receiver, reports };
}

/** Sends a signed body over a socket; resolves with the answer. */
async function ask(
  receiver: Receiver<NoSchemas, TypedEvent>,
  body = question,
  headers = chatHeaders(body),
): Promise<{ readonly status: number; readonly type: string | null; readonly body: string }> {
  const response = await fetch(await serve(receiver), { method: 'POST', body, headers });
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json';

describe('a question of the sender', () => {
  test('is answered with an object as JSON', async () => {
    expect(await ask(create().receiver)).toEqual({
      status: 200,
      type: JSON_TYPE,
      body: '{"challenge":"3eZbrw1aB"}',
    });
  });

  test.each(['3eZbrw1aB', '', 'é ✓', '<script>'])('is answered with the text %j', async (text) => {
    const { receiver } = create({ provider: chat(() => text) });
    expect(await ask(receiver)).toEqual({ status: 200, type: TEXT_TYPE, body: text });
  });

  test('is reported as itself, without an event, and is the last delivery of the health', async () => {
    const { receiver, reports } = create();
    await ask(receiver);
    expect(reports).toMatchObject([
      { outcome: 'handshake', status: 200, provider: 'chat', source: 'delivery', keyIndex: 0, handlers: [] },
    ]);
    const [report] = reports;
    expect(report).toMatchObject({ answerSent: true, late: false, endpointAtRisk: false });
    expect(report?.event).toBeUndefined();
    expect(report?.attempt).toBeUndefined();
    expect(report?.code).toBeUndefined();
    expect(await receiver.health()).toMatchObject({ lastDelivery: { outcome: 'handshake' } });
  });

  test('claims nothing, and reaches no handler and no dead letters', async () => {
    const calls: string[] = [];
    const memory = createMemoryStore();
    const store = {
      ...memory,
      claim: (request: Parameters<typeof memory.claim>[0]) => {
        calls.push('claim');
        return memory.claim(request);
      },
    };
    const letters = new Map<string, DeadLetter>();
    const { receiver } = create({ store, deadLetters: createMapDeadLetters(letters) });
    receiver.on('*', () => calls.push('handler'));
    expect(await ask(receiver)).toMatchObject({ status: 200 });
    expect(calls).toEqual([]);
    expect(letters.size).toBe(0);
  });

  test('is answered each time that it is asked', async () => {
    const { receiver, reports } = create();
    await ask(receiver);
    await ask(receiver);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['handshake', 'handshake']);
  });

  test('is answered without handlers, and while the receiver closes', async () => {
    const { receiver } = create();
    await receiver.close();
    expect(await ask(receiver)).toMatchObject({ status: 200, body: '{"challenge":"3eZbrw1aB"}' });
    expect(await ask(receiver, '{"id":"ev_1","event":{"type":"message"}}')).toMatchObject({ status: 503 });
  });

  test('of a stranger is not answered', async () => {
    const { receiver, reports } = create();
    const [unsigned, otherKey, old] = [
      {},
      chatHeaders(question, Date.now(), 'other'),
      chatHeaders(question, 0),
    ];
    expect(await ask(receiver, question, unsigned)).toMatchObject({ status: 403, type: PROBLEM_TYPE });
    expect(await ask(receiver, question, otherKey)).toMatchObject({ status: 403, type: PROBLEM_TYPE });
    expect(await ask(receiver, question, old)).toMatchObject({ status: 403, type: PROBLEM_TYPE });
    expect(reports.map(({ code }) => code)).toEqual([
      'signature_missing',
      'signature_mismatch',
      'signature_expired',
    ]);
  });

  test('and an event beside it: the event is handled', async () => {
    const { receiver, reports } = create();
    const seen: unknown[] = [];
    receiver.on('message', (event) => seen.push(event));
    expect(await ask(receiver, '{"id":"ev_1","event":{"type":"message"}}')).toMatchObject({
      status: 200,
      body: '{"outcome":"processed","id":"ev_1"}',
    });
    expect(seen).toEqual([{ type: 'message' }]);
    expect(reports).toMatchObject([{ outcome: 'processed' }]);
  });
});

describe('a result that cannot be sent is refused 500, and is not parked', () => {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  const wrong: readonly [string, () => unknown, RegExp][] = [
    ['null', () => null, /returned null: it must return a text or an object/],
    ['a number', () => 7, /returned 7/],
    ['true', () => true, /returned true/],
    ['a function', () => () => '', /returned /],
    ['a promise', async () => 'late', /returned a promise/],
    ['a promise that rejects', () => Promise.reject(new Error('late')), /returned a promise/],
    ['a cycle', () => cycle, /no JSON: .*circular/],
    ['a BigInt', () => ({ id: 1n }), /no JSON: .*BigInt/],
    ['no JSON', () => ({ toJSON: () => undefined }), /an object that has no JSON/],
    ['a long text', () => 'é'.repeat(32_769), /returned 65538 bytes: .* at most 65536 bytes/],
    ['a long object', () => ({ text: 'x'.repeat(65_536) }), /returned 65547 bytes/],
  ];
  test.each(wrong)('%s', async (_name, answer, message) => {
    const letters = new Map<string, DeadLetter>();
    const { receiver, reports } = create({
      provider: chat(answer),
      deadLetters: createMapDeadLetters(letters),
    });
    const { body, ...head } = await ask(receiver);
    expect(head).toEqual({ status: 500, type: PROBLEM_TYPE });
    expect(JSON.parse(body)).toMatchObject({ code: 'configuration_invalid' });
    expect(reports).toMatchObject([{ outcome: 'failed', code: 'configuration_invalid' }]);
    expect(reports[0]?.error?.message).toMatch(message);
    expect(letters.size).toBe(0);
  });

  test('the longest one is sent', async () => {
    const { receiver } = create({ provider: chat(() => 'x'.repeat(65_536)) });
    expect(await ask(receiver)).toMatchObject({ status: 200, type: TEXT_TYPE, body: 'x'.repeat(65_536) });
  });
});

test('a body on which handshake throws is one that is not an event', async () => {
  const { receiver, reports } = create();
  expect(await ask(receiver, 'not JSON')).toMatchObject({ status: 400, type: PROBLEM_TYPE });
  expect(reports).toMatchObject([{ outcome: 'rejected', code: 'envelope_invalid' }]);
  expect(reports[0]?.error?.message).toMatch(/^handshake of the provider failed: /);
});

test.each(ourAdapters)('$name $place sends the content type of the answer', async ({ mount }) => {
  const answers = [
    ['text', () => 'it is me', TEXT_TYPE, 'it is me'],
    ['object', () => ({ me: true }), JSON_TYPE, '{"me":true}'],
  ] as const;
  for (const [name, answer, type, body] of answers) {
    const served = await mount(create({ provider: chat(answer) }).receiver);
    onTestFinished(async () => void (await served.close()));
    const response = await fetch(served.url, {
      method: 'POST',
      body: question,
      headers: chatHeaders(question),
    });
    expect(response.status, name).toBe(200);
    expect(response.headers.get('content-type'), name).toBe(type);
    expect(await response.text(), name).toBe(body);
  }
});
