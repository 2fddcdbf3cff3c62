import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { handledEntry } from '../../support/handled-entry.ts';
import { letterOf } from '../../support/letter-of.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt } from '../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY, post, serve } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { createUnobserved } from '../../support/unobserved-receiver.ts';
import { until } from '../../support/until.ts';

const { printed: printedInAll, clear } = usePrintedErrors();

/** What went to the console since the last call. */
function printed(): string[] {
  const lines = printedInAll();
  clear();
  return lines;
}

const fail = throwing('no booking today');

const FLOOD = 20;
const AT_ONCE = 10;

/** Sends so many, some at once, and expects all to be answered with the status. */
async function flood(
  status: number,
  send: () => Promise<{ readonly status: number | undefined }>,
): Promise<void> {
  const sendSome = async (): Promise<void> => {
    for (let count = 0; count < FLOOD / AT_ONCE; count += 1) expect(await send()).toMatchObject({ status });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
}

/** Serves with what stands before the receiver in a framework. */
function serveBehind(
  receiver: Receiver,
  middleware: (incoming: IncomingMessage, next: () => void) => void,
): Promise<string> {
  const handle = toNode(receiver);
  return listenUntilTheEnd((incoming, outgoing) => {
    middleware(incoming, () => handle(incoming, outgoing));
  });
}

/** A body that stops before its end; resolves with the answer. */
async function sendPart(
  url: string,
  bytes: number,
  declaredBytes: number,
): Promise<{ readonly status: number }> {
  const headers = { 'content-length': declaredBytes, 'x-service-signature': '0'.repeat(64) };
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.write('x'.repeat(bytes));
  const [incoming] = await once(outgoing, 'response');
  outgoing.destroy();
  return { status: incoming.statusCode };
}

const forged = { key: 'other' };
const headers = { 'x-service-signature': '0'.repeat(64) };

interface Case {
  readonly code: string;
  readonly status: number;
  readonly options?: EndpointOptions;
  /** What stands before the receiver in a framework. */
  readonly middleware?: (incoming: IncomingMessage, next: () => void) => void;
  readonly send: (url: string) => Promise<{ readonly status: number | undefined }>;
}

const rejections: readonly Case[] = [
  { code: 'method_not_allowed', status: 405, send: (url) => fetch(url) },
  {
    code: 'credentials_invalid',
    status: 401,
    options: { authentication: { type: 'BEARER', bearer: { token: 'token' } } },
    send: (url) => deliver(url, '{}', forged),
  },
  {
    code: 'signature_missing',
    status: 403,
    send: (url) => deliver(url, '{}', { ...forged, signatureHeader: 'x-other' }),
  },
  {
    code: 'signature_repeated',
    status: 403,
    send: (url) => post(url, '{}', { 'x-service-signature': ['0', '0'] }),
  },
  {
    code: 'signature_malformed',
    status: 403,
    send: (url) => post(url, '{}', { 'x-service-signature': '0' }),
  },
  { code: 'signature_mismatch', status: 403, send: (url) => deliver(url, '{}', forged) },
  {
    code: 'encoding_unsupported',
    status: 415,
    send: (url) => post(url, '{}', { ...headers, 'content-encoding': 'gzip' }),
  },
  {
    code: 'body_too_large',
    status: 413,
    options: { maxBodyBytes: 10 },
    send: (url) => post(url, 'x'.repeat(11), headers),
  },
  {
    code: 'body_timeout',
    status: 408,
    options: { bodyTimeoutMs: 5 },
    send: (url) => sendPart(url, 1, 2),
  },
];

const failures: readonly Case[] = [
  {
    code: 'keys_unavailable',
    status: 503,
    options: { signingKey: async () => fail() },
    send: (url) => deliver(url, '{}', forged),
  },
  {
    code: 'body_already_parsed',
    status: 500,
    middleware: (incoming, next) => void incoming.resume().once('end', next),
    send: (url) => deliver(url, '{}', forged),
  },
  {
    code: 'internal_error',
    status: 500,
    middleware: (incoming, next) => {
      Object.defineProperty(incoming, 'rawBody', { get: fail });
      next();
    },
    send: (url) => deliver(url, '{}', forged),
  },
];

function leftOut(count: number, code: string): string {
  return `posthorn: ${count} more deliveries ended with ${code} in the last minute`;
}

describe('many deliveries without a valid signature print five lines, and after a minute one that counts the others:', () => {
  beforeEach(() => {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  });

  function expectFive(code: string, start: string): void {
    expect(printed()).toEqual(Array(5).fill(expect.stringContaining(`posthorn: ${start} ${code}: `)));
    vi.advanceTimersByTime(60_000);
    expect(printed()).toEqual([leftOut(FLOOD - 5, code)]);
    vi.advanceTimersByTime(120_000);
    expect(printed()).toEqual([]);
  }

  test.each([...rejections, ...failures])('$code', async ({ code, status, options, middleware, send }) => {
    const url = await serveBehind(
      createUnobserved(options).on('*', fail),
      middleware ?? ((_, next) => next()),
    );
    await flood(status, () => send(url));
    expectFive(code, `${failures.some((failed) => failed.code === code) ? 'failed' : 'rejected'} ${status}`);
  });

  test('buffer_full', async () => {
    const url = await serve(createUnobserved({ maxBodyBytes: 1_000, maxBufferedBytes: 1_000 }).on('*', fail));
    let answered = 0;
    // There is room for one of them: each is refused, or makes room for the next.
    for (let sent = 0; sent <= FLOOD; sent += 1) {
      if (sent % AT_ONCE === 1) await until(`${sent - 1} answers`, () => answered === sent - 1);
      void sendPart(url, 900, 1_000).then(
        ({ status }) => {
          if (status === 503) answered += 1;
        },
        () => {},
      );
    }
    await until('all answers but one', () => answered === FLOOD);
    expectFive('buffer_full', 'failed 503');
    await until('the last one is given up', () => printed().some((line) => line.includes('body_timeout')));
  });

  test('and those of one code hide the first of no other', async () => {
    let signingKey = async (): Promise<string> => KEY;
    const receiver = createUnobserved({ signingKey: () => signingKey() }).on('*', fail);
    const url = await serve(receiver);
    await flood(403, () => deliver(url, '{}', forged));
    signingKey = async () => fail();
    await flood(503, () => deliver(url, '{}', forged));
    const lines = printed();
    expect(lines).toHaveLength(10);
    expect(lines[5]).toMatch(/^posthorn: failed 503 keys_unavailable: /);
    vi.advanceTimersByTime(60_000);
    expect(printed()).toEqual([
      leftOut(FLOOD - 5, 'signature_mismatch'),
      leftOut(FLOOD - 5, 'keys_unavailable'),
    ]);
  });

  test('each minute anew', async () => {
    const url = await serve(createUnobserved().on('*', fail));
    for (const _minute of [1, 2]) {
      await flood(403, () => deliver(url, '{}', forged));
      expectFive('signature_mismatch', 'rejected 403');
    }
  });

  test('beside the warning that dead letters are missing, on a line of its own', async () => {
    const url = await serve(createReceiver({ signingKey: KEY }).on('*', fail));
    await flood(403, () => deliver(url, '{}', forged));
    expect(printed()).toEqual([
      expect.stringMatching(/^posthorn: dead_letters_missing: /),
      ...Array(5).fill(expect.stringMatching(/^posthorn: rejected 403 (?!.*dead_letters_missing)/)),
    ]);
  });

  test('the same for an observer that fails', async () => {
    const url = await serve(createUnobserved().on('*', fail).observe(fail));
    await flood(403, () => deliver(url, '{}', forged));
    expect(printed()).toEqual(Array(5).fill('posthorn: an observer failed: no booking today'));
    vi.advanceTimersByTime(60_000);
    expect(printed()).toEqual([`posthorn: ${FLOOD - 5} more failures of an observer in the last minute`]);
  });
});

describe('what a valid signature stands behind is never left out:', () => {
  test('failures, and those of replays', async () => {
    const deadLetters = createMapDeadLetters();
    const receiver = createUnobserved({ deadLetters }).on('*', fail);
    const url = await serve(receiver);
    const event = eventAt(Date.now() - 20 * 60_000);
    for (let count = 0; count < 20; count += 1) await deliver(url, createEvent('dispute.won'), { key: KEY });
    expect(printed()).toHaveLength(20);
    await deliver(url, event, { key: KEY });
    expect(printed()).toHaveLength(1);
    const letter = await letterOf(deadLetters, event.id);
    for (let count = 0; count < 20; count += 1) await receiver.replay(letter);
    expect(printed()).toHaveLength(20);
  });

  test('complaints about an observer', async () => {
    const url = await serve(
      createUnobserved()
        .on('*', () => {})
        .observe(fail),
    );
    for (let count = 0; count < 20; count += 1) await deliver(url, createEvent('dispute.won'), { key: KEY });
    expect(printed()).toHaveLength(20);
  });
});

test('the line of a rerun names its run', async () => {
  const receiver = createUnobserved().on('*', fail, { name: 'book' });
  const entry = handledEntry(createEvent('dispute.won'));
  await receiver.rerun(entry, { handlers: ['book'], run: 'fix-1127' });
  expect(printed()).toEqual([
    expect.stringMatching(
      /^posthorn: failed 500 event=\S+ type=\S+ rerun=fix-1127 attempt=1 .*handler_failed: /,
    ),
  ]);
});

test('what was left out is told before the next line, where the timer of its minute is late', async () => {
  fakeTimers({ toFake: ['performance'] });
  const url = await serve(createUnobserved().on('*', fail));
  for (let count = 0; count < 7; count += 1) await deliver(url, '{}', forged);
  printed();
  vi.advanceTimersByTime(60_000);
  for (let count = 0; count < 2; count += 1) await deliver(url, createEvent('dispute.won'), { key: KEY });
  expect(printed()).toEqual([
    leftOut(2, 'signature_mismatch'),
    expect.stringMatching(/^posthorn: failed 500 .* handler_failed: /),
    expect.stringMatching(/^posthorn: failed 500 .* handler_failed: /),
  ]);
});

test('what was left out of an observer that fails is told before its next line, where that timer is late', async () => {
  fakeTimers({ toFake: ['performance'] });
  const url = await serve(createUnobserved().on('*', fail).observe(fail));
  for (let count = 0; count < 7; count += 1) await deliver(url, '{}', forged);
  printed();
  vi.advanceTimersByTime(60_000);
  await deliver(url, createEvent('dispute.won'), { key: KEY });
  expect(printed()).toEqual([
    'posthorn: 2 more failures of an observer in the last minute',
    'posthorn: an observer failed: no booking today',
  ]);
});

test('what waits to be told keeps no process alive', async () => {
  const timersAlive = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const receiver = createUnobserved().on('*', fail);
  const before = timersAlive();
  const wrong = { 'x-service-signature': ['0'] };
  for (let count = 0; count < 7; count += 1) await receiver.receive(deliveryOf('{}', wrong));
  // Timers of earlier tests may end meanwhile, and short ones begin; that of the log would last a minute.
  await expect.poll(timersAlive, { timeout: 10_000 }).toBeLessThanOrEqual(before);
});

test('a line is of bounded length, with whatever warnings', async () => {
  let failed = 0;
  const failLong = async (): Promise<never> => {
    failed += 1;
    throw new Error(`${failed} ${'\u202e'.repeat(100_000)}`);
  };
  const deadLetters = { ...createMapDeadLetters(), put: failLong, get: failLong };
  const store = { ...createMemoryStore(), release: failLong };
  const url = await serve(createUnobserved({ deadLetters, store }).on('*', failLong));
  const event = { ...eventAt(Date.now() - 20 * 60_000), id: '\u202e'.repeat(100_000) };
  await deliver(url, { ...event, type: `transfer.${'\u202e'.repeat(100_000)}` }, { key: KEY });
  const [line = '', ...more] = printed();
  expect(more).toEqual([]);
  expect(line).toMatch(/handler_failed: .*dead_letter_not_stored: /);
  expect(line.length).toBeGreaterThan(2_000);
  expect(line.length).toBeLessThanOrEqual(4_001);
});
