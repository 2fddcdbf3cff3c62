import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { type BodyOptions, ConfigurationError, type Delivery, type Reply } from 'posthorn';
import { type AdapterConformanceOptions, adapterConformance, type Serve } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toDelivery } from '../../adapters/answer.ts';
import { sendReply } from '../../adapters/send-reply.ts';
import { HANDLER_MESSAGE } from '../../src/testing/adapter-conformance/delivery.ts';
import { ownCases } from '../adapters/conformance.ts';
import { listen, type Mountable } from '../adapters/endpoint.ts';
import { mountOnNode } from '../adapters/mounts.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { Seen } from '../support/seen.ts';

/** Parts of an adapter for Node.js; each that is given takes the place of the right one. */
interface Parts {
  readonly headers?: (request: IncomingMessage) => Delivery['headers'];
  readonly url?: (request: IncomingMessage) => string | undefined;
  readonly readBody?: (request: IncomingMessage, options: BodyOptions) => ReturnType<Delivery['readBody']>;
  readonly reply?: (reply: Reply) => Reply;
  /** Called when the receiver rejects. */
  readonly fail?: (request: IncomingMessage) => void;
}

function handlerOf(receiver: Mountable, { headers, url, readBody, reply, fail }: Parts) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const delivery: Delivery = {
      ...toDelivery(request, response),
      ...(headers && { headers: headers(request) }),
      ...(url && { url: url(request) }),
      ...(readBody && { readBody: (options) => readBody(request, options) }),
    };
    receiver.receive(delivery).then(
      (right) => sendReply(request, response, reply?.(right) ?? right),
      () => (fail ?? ((failed) => failed.destroy()))(request),
    );
  };
}

/** Serves an adapter with the given parts. */
function serveWith(parts: Parts): Serve {
  return (receiver) => listen(handlerOf(receiver, parts));
}

/** The same, behind a body parser. */
function serveBehindParser(parts: Parts): Serve {
  return (receiver) => {
    const handle = handlerOf(receiver, parts);
    return listen(async (request, response) => {
      const body = await text(request);
      handle(Object.assign(request, { body: body === '' ? {} : JSON.parse(body) }), response);
    });
  };
}

function without(name: string): Parts {
  return {
    reply: ({ headers: { [name]: _, ...headers }, ...reply }) => ({ ...reply, headers }),
  };
}

/** Whatever has come when the request is closed, however it ended. */
async function readUntilClosed(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  request.on('data', (bytes: Buffer) => chunks.push(bytes)).on('error', () => {});
  await new Promise((resolve) => request.once('close', resolve));
  return Buffer.concat(chunks);
}

async function readAsTexts(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const bytes of request) body += bytes;
  return body;
}

async function readToEnd(request: IncomingMessage): Promise<Buffer> {
  if (request.readableEnded) await once(request, 'data');
  return buffer(request);
}

async function readInSpiteOfSignal(request: IncomingMessage, { onProgress }: BodyOptions): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of request) {
    bytes = Buffer.concat([bytes, chunk]);
    onProgress?.(bytes.length);
  }
  return bytes;
}

function parsedBody(request: IncomingMessage): string {
  return JSON.stringify(Reflect.get(request, 'body'));
}

/** The values of a header that were sent twice, joined; all others as they are. */
function folded({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  return headers;
}

const KNOWN_NAMES = /^(x-service-signature|acme-signature|authorization|content-(type|length|encoding))$/;

function namedInLowerCase({ rawHeaders }: IncomingMessage): Delivery['headers'] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && KNOWN_NAMES.test(name) ? [name, rawHeaders[index + 1] ?? ''] : [],
  );
}

function respeltUrl({ url = '' }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

interface Mistake {
  readonly parts: Parts;
  /** The names of cases that must fail. */
  readonly fails: readonly string[];
  /** What each of their messages must hold. */
  readonly tells: RegExp;
}

const READ_BODY = 'a body that was read before: is answered 500 at once';

const mistakes: Readonly<Record<string, Mistake>> = {
  'leaves out the url': {
    parts: { url: () => undefined },
    fails: ['url: the path alone'],
    tells:
      /the url of the delivery must be .*\/webhooks.*, got .*undefined.*\nurl of a delivery must be path/,
  },
  'decodes the url': {
    parts: { url: ({ url = '' }) => decodeURIComponent(url) },
    fails: ['url: a query with percent-encoding', 'url: an absolute target, which names scheme and host'],
    tells: /not decoded or parsed/,
  },
  'leaves the host in the url': {
    parts: { url: ({ url }) => url },
    fails: ['url: an absolute target, which names scheme and host'],
    tells: /without scheme and host/,
  },
  'parses the query': {
    parts: { url: respeltUrl },
    fails: [
      'url of a query as it was spelt: an empty one',
      'url of a query as it was spelt: one that a parser would spell otherwise',
    ],
    tells: /not decoded or parsed/,
  },
  'decodes the body to text first': {
    parts: { readBody: text },
    fails: ['400: bytes that are not UTF-8', '400: a byte order mark'],
    tells:
      /must be 400 body_not_json; it is 403 .*signature_mismatch.*\nA signature is over the bytes.*unchanged/s,
  },
  'decodes each chunk of the body by itself': {
    parts: { readBody: readAsTexts },
    fails: ['accepted: a body of several megabytes arrives byte for byte'],
    tells: /signature_mismatch.*\n.*the bytes of the body as they were sent/s,
  },
  'looks headers up in one case only': {
    parts: { headers: namedInLowerCase },
    fails: ['header names: in upper case', 'header names: with capitals'],
    tells: /\nHand over all headers at once .* Pick none by its name/,
  },
  'joins the values of a header that was sent twice': {
    parts: { headers: folded },
    fails: ['repeated headers: the right signature sent twice'],
    tells: /must be 403 signature_repeated; it is 403 .*\nA header that was sent twice must show twice/,
  },
  'takes the first of two values': {
    parts: { headers: ({ headers }) => headers },
    fails: ['repeated headers: authorization sent twice: a right one before a wrong one'],
    tells: /must be 401 credentials_invalid; it is 200 .*\nA header that was sent twice must show twice/,
  },
  'accepts a body that was cut off': {
    parts: { readBody: readUntilClosed },
    fails: ['a body of declared length', 'a chunked body'].flatMap((body) =>
      ['reset by the sender', 'closed by the sender'].map(
        (cut) => `cut bodies: ${body}, ${cut} behind a part that is an event with a right signature`,
      ),
    ),
    tells: /outcome: 'processed'.*\nreadBody must reject with a RequestError body_incomplete/s,
  },
  'waits for a body that was read before': {
    parts: { readBody: readToEnd },
    fails: [READ_BODY],
    tells:
      /must be 500 body_already_parsed; it is 408 .*\nIf something has read the body before.*at once throw/s,
  },
  'takes the result of a parser for the body': {
    parts: { readBody: parsedBody },
    fails: [READ_BODY],
    tells: /must be 500 body_already_parsed; it is 200 .*\n.*a parser's result cannot be verified/,
  },
  'drops Retry-After': {
    parts: without('retry-after'),
    fails: ['503: closing', '503: no handler is registered', '503: a store that rejects'],
    tells: /the header retry-after must be sent with 503\n.*every header/,
  },
  'drops WWW-Authenticate': {
    parts: without('www-authenticate'),
    fails: ['401: no credentials', '401: a wrong token'],
    tells: /the header www-authenticate must be sent with 401\n.*every header/,
  },
  'drops Allow': {
    parts: without('allow'),
    fails: ['405: GET is told to POST, before it is asked for credentials'],
    tells: /the header allow of 405 must be 'POST', got undefined\n.*every header/,
  },
  'answers 200 always': {
    parts: { reply: (reply) => ({ ...reply, status: 200 }) },
    fails: [
      '401: no credentials',
      '403: no signature',
      '500: a handler that throws; the next delivery is another attempt',
    ],
    tells: /the answer must be (401|403|500) \w+; it is 200 .*\n.*send the status/,
  },
  'reads a body without its limit': {
    parts: { readBody: (request) => buffer(request) },
    fails: ['long bodies: a body over the limit, by its declared length and by its chunks'],
    tells: /must be 413 body_too_large; it is 408 .*\n.*more than maxBytes, stop reading/,
  },
  'goes on keeping a body that was given up': {
    parts: { readBody: readInSpiteOfSignal },
    fails: ['slow bodies: what comes of a body after it was given up is not held'],
    tells:
      /held of a body after it was given up must be \[\], got \[ 506 \]\n.*keep nothing of what comes later/s,
  },
  'tells what a handler threw': {
    parts: {
      reply: (reply) => ({ ...reply, body: reply.body.replace(/}$/, `,"detail":"${HANDLER_MESSAGE}"}`) }),
    },
    fails: [
      '500: a handler that rejects; the next delivery is another attempt',
      '500: data that a schema refuses',
    ],
    tells: /the answer tells the message of an error: send the body of the reply, and no other/,
  },
  'ignores that the receiver rejects': {
    parts: { fail: () => {} },
    fails: ['a receiver that rejects: is answered 5xx, or by the end of the connection'],
    tells: /neither came within 2 seconds\n.*catch its rejection/,
  },
};

/** What came of the named cases, or of all: the message of each failure. */
async function failuresOf(
  parts: Parts,
  names: readonly string[],
  options: AdapterConformanceOptions = {},
): Promise<string[]> {
  const readBody = { serveReadBody: serveBehindParser(parts) };
  const cases = [
    ...adapterConformance(serveWith(parts), { ...readBody, ...options }),
    ...ownCases(serveWith(parts)),
  ];
  const failures: string[] = [];
  for (const wanted of names) {
    const found = cases.find(({ name }) => name === wanted) ?? expect.unreachable(`no case: ${wanted}`);
    await found.run().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

describe('an adapter that', () => {
  for (const [name, { parts, fails, tells }] of Object.entries(mistakes)) {
    test(`${name} fails, and is told what to do`, async () => {
      const failures = await failuresOf(parts, fails);
      expect(failures).toHaveLength(fails.length);
      for (const message of failures) expect(message).toMatch(tells);
    });
  }

  test('makes none of these mistakes passes the same cases', async () => {
    const names = new Set(Object.values(mistakes).flatMap(({ fails }) => fails));
    expect(await failuresOf({}, [...names])).toEqual([]);
  });
});

describe('the platform', () => {
  const repeated = adapterConformance(mountOnNode)
    .map(({ name }) => name)
    .filter((name) => name.startsWith('repeated headers: '));

  test('may join the values of a header that was sent twice, which is refused all the same', async () => {
    expect(repeated).toHaveLength(4);
    expect(await failuresOf({ headers: folded }, repeated, { foldsRepeatedHeaders: true })).toEqual([]);
  });

  test('may not drop one of the values', async () => {
    const options = { foldsRepeatedHeaders: true };
    const failures = await failuresOf({ headers: ({ headers }) => headers }, repeated, options);
    expect(failures).not.toEqual([]);
  });

  /** The groups of cases that run under an option. */
  function groupsOf(options: AdapterConformanceOptions): Set<string> {
    const names = adapterConformance(mountOnNode, options).map(({ name }) => name.replace(/: .*/, ''));
    return new Set(names);
  }

  test('may hand over whole bodies only: then none is sent cut, slowly or without end', () => {
    const all = groupsOf({});
    const left = groupsOf({ wholeBodiesOnly: true });
    expect([...all].filter((group) => !left.has(group))).toEqual([
      'slow bodies',
      'cut bodies',
      'long bodies',
      'many bodies',
      'a body behind a refusal',
    ]);
  });

  test('may hide connections: all bodies are sent, and only answers are judged', async () => {
    const namesUnder = (options: AdapterConformanceOptions): string[] =>
      adapterConformance(mountOnNode, options).map(({ name }) => name);
    expect(namesUnder({ hidesConnections: true })).toEqual(namesUnder({}));
    const keepsAll: Parts = { reply: (reply) => ({ ...reply, close: false }) };
    const judged = ['long bodies: a body over the limit, by its declared length and by its chunks'];
    expect(await failuresOf(keepsAll, judged, { hidesConnections: true })).toEqual([]);
    expect(await failuresOf(keepsAll, judged)).toHaveLength(1);
  });
});

test('a server that cannot count its connections passes', async () => {
  const serve: Serve = async (receiver) => ({
    ...(await mountOnNode(receiver)),
    countConnections: undefined,
  });
  const cases = adapterConformance(serve).filter(({ name }) => name.startsWith('connections: '));
  expect(cases.length).toBeGreaterThan(1);
  for (const { run } of cases) await run();
});

test('each case has a name of its own', () => {
  const names = adapterConformance(mountOnNode, { serveReadBody: mountOnNode }).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('a list can be run twice', async () => {
  const cases = adapterConformance(mountOnNode).filter(({ name }) => name.startsWith('connections: '));
  for (const { run } of [...cases, ...cases]) await run();
});

describe('a case that hangs ends by itself, and says what it was waiting for', () => {
  /** Runs a case; once `reached` resolves, its time runs out. */
  async function failureOf(
    serve: Serve,
    reached: Promise<unknown>,
    limitMs: number,
    prefix = 'accepted: an event',
  ): Promise<unknown> {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const found = adapterConformance(serve).find(({ name }) => name.startsWith(prefix));
    const failure = found?.run().catch((error: unknown) => error);
    await reached;
    // The timer of a limit starts in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(limitMs);
    return failure;
  }

  const waitedFor = (what: string, seconds: number) => ({
    message: expect.stringContaining(`not over after ${seconds} seconds; it was waiting for: ${what}\n`),
  });

  test('an adapter that never answers', async () => {
    const arrived = new Seen<true>();
    const failure = await failureOf(() => listen(() => arrived.add(true)), arrived.nth(1), 15_000);
    expect(failure).toMatchObject(waitedFor('the answer to a delivery', 15));
  });

  test('a server that is never up', async () => {
    const failure = await failureOf(() => new Promise(() => {}), Promise.resolve(), 15_000);
    expect(failure).toMatchObject(waitedFor('serve to resolve', 15));
  });

  test('a connection that the server keeps open, where it can count them', async () => {
    const counted = new Seen<true>();
    const countConnections = async (): Promise<number> => {
      counted.add(true);
      return 1;
    };
    const serve: Serve = async (receiver) => ({ ...(await mountOnNode(receiver)), countConnections });
    const failure = await failureOf(serve, counted.nth(1), 15_000, 'long bodies: a chunked body');
    expect(failure).toMatchObject(waitedFor('all connections to be gone', 15));
  });

  test('a server that is never closed', async () => {
    const closing = new Seen<true>();
    const serve: Serve = async (receiver) => {
      const served = await mountOnNode(receiver);
      onTestFinished(served.close);
      return {
        ...served,
        close: () => {
          closing.add(true);
          return new Promise(() => {});
        },
      };
    };
    const failure = await failureOf(serve, closing.nth(1), 3_000);
    expect(failure).toMatchObject(waitedFor('close to resolve', 3));
  });
});

describe('wrong arguments throw', () => {
  const wrong: Readonly<Record<string, unknown[]>> = {
    'no function that serves': [{}],
    'no object of options': [mountOnNode, true],
    'an unknown option': [mountOnNode, { foldsHeaders: true }],
    'a flag that is not a boolean': [mountOnNode, { wholeBodiesOnly: 'yes' }],
    'a serveReadBody that is not a function': [mountOnNode, { serveReadBody: true }],
  };
  for (const [name, args] of Object.entries(wrong)) {
    test(`${name}`, () => {
      expect(() => Reflect.apply(adapterConformance, undefined, args)).toThrow(ConfigurationError);
    });
  }

  test('a serve that gives no address', async () => {
    const serve: Serve = async () => Reflect.apply(Object, undefined, [{ port: 1 }]);
    const [first] = adapterConformance(serve);
    await expect(first?.run()).rejects.toThrow('serve must resolve with an object that has url and close');
  });
});
