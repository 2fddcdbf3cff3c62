import { basename } from 'node:path';
import { createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { nastyValues } from '../../support/nasty-values.ts';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY, serve } from '../../support/served.ts';
import { createUnobserved } from '../../support/unobserved-receiver.ts';

const { printed, clear } = usePrintedErrors();

/** The lines that are printed about one event, with the handlers of `register`. */
async function printedOf(
  register: (receiver: Receiver) => void,
  options: EndpointOptions = {},
): Promise<string[]> {
  const receiver = createUnobserved(options);
  register(receiver);
  await deliver(await serve(receiver), createEvent('transfer.succeeded'), { key: KEY });
  return printed();
}

/** The line about an event whose handler throws a value. */
async function lineOf(value: unknown): Promise<string> {
  const lines = await printedOf((receiver) =>
    receiver.on('*', () => {
      throw value;
    }),
  );
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

const file = basename(import.meta.url);
const here = new RegExp(`at .*${file}:\\d+:\\d+`);

/** The root of the package, as stacks name it: on Windows a path or a URL. */
const [, root = '', separator = ''] =
  /([^( ]+[\\/])test([\\/])receiver[\\/]outcomes[\\/]stack-frames/.exec(new Error().stack ?? '') ?? [];

/** What looks like a frame, and tells of a card. */
const FORGED = '    at card4111111111111111 (/payload.js:1:1)';

function book(): never {
  throw new Error('no booking today');
}

describe('without an observer', () => {
  test('a failed handler prints its file and line, still on one line', async () => {
    const [line, ...more] = await printedOf((receiver) => receiver.on('*', book, { name: 'book' }));
    expect(more).toEqual([]);
    expect(line).toMatch(/handler_failed: the handler "book" failed: no booking today \[stack: at book \(/);
    expect(line).toMatch(here);
    expect(line).not.toContain('\n');
  });

  test('each failed handler does, with its causes', async () => {
    function connect(): never {
      throw new Error('connection refused');
    }
    function mail(): never {
      try {
        return connect();
      } catch (cause) {
        throw new Error('no mail today', { cause });
      }
    }
    const [line] = await printedOf((receiver) => receiver.on('*', book).on('*', mail));
    expect(line).toMatch(/\[stack: at book .*\] \[stack: at .*mail .*\] \[cause: at connect /);
  });

  test('so do a schema, a store and a function of keys that throw, and a parked event', async () => {
    const validate = (): never => book();
    const transfer = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const cases = [
      { code: 'data_invalid', options: { schemas: { transfer } } },
      { code: 'store_unavailable', options: { store: { ...createMemoryStore(), claim: book } } },
      { code: 'keys_unavailable', options: { signingKey: book } },
    ];
    for (const { code, options } of cases) {
      clear();
      const [line] = await printedOf((receiver) => receiver.on('*', () => {}), options);
      expect(line).toMatch(new RegExp(`${code}: .*\\[stack: at (Object\\.)?book `));
    }
    clear();
    const retryScheduleMs: number[] = [];
    const [parked] = await printedOf((receiver) => receiver.on('*', book), { retryScheduleMs });
    expect(parked).toMatch(/^posthorn: parked 200 .*\[stack: at book /);
  });

  test('a body that is no event prints no stack of its parser', async () => {
    const receiver = createReceiver({ signingKey: KEY, store: createMemoryStore() }).on('*', book);
    await deliver(await serve(receiver), '{', { key: KEY });
    expect(printed().join('\n')).toContain('body_not_json');
    expect(printed().join('\n')).not.toContain('[stack: ');
  });
});

/** What follows the message in the line. */
async function framesOf(value: unknown): Promise<string> {
  const line = await lineOf(value);
  const start = line.indexOf('[stack: ');
  return start === -1 ? '' : line.slice(start);
}

describe("only frames of the user's own code are printed:", () => {
  /** What is printed of a stack that has one frame. */
  function framesAt(place: string): Promise<string> {
    return framesOf(Object.assign(new Error('a'), { stack: `Error: a\n    at ${place}\n` }));
  }

  test('a failed handler has those of its file, and none of posthorn or Node.js', async () => {
    async function save(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('no booking today');
    }
    for (const handle of [book, () => book(), async () => save()]) {
      clear();
      const [line = ''] = await printedOf((receiver) => receiver.on('*', handle));
      const frames = line.slice(line.indexOf('[stack: ') + '[stack: '.length, -1).split(/ (?=at )/);
      expect(frames.length).toBeLessThanOrEqual(2);
      for (const frame of frames) expect(frame).toMatch(here);
    }
  });

  test.each([
    'book (/home/me/posthorn/src/handlers.js:1:1)',
    'book (/home/me/posthorn-demo/node_modules.js:1:1)',
    'async book (file:///home/me/posthorn/src/receiver/outcomes/handlers.js:1:1)',
    'async file:///home/me/server.mjs:1:1',
    '/home/me/node:server.js:1:1',
    'Object.book [as handle] (C:\\Users\\A B (old)\\src\\server.js:1:1)',
    'book (webpack-internal:///(rsc)/./app/webhooks/route.ts:1:1)',
  ])('at %s', async (place) => {
    expect(await framesAt(place)).toBe(`[stack: at ${place}]`);
  });

  test.each([
    'Run.start (/home/me/node_modules/posthorn/dist/src/receiver/handling/run/run.js:1:1)',
    'async Run.start (file:///srv/node_modules/.pnpm/posthorn@1.0.0/node_modules/posthorn/dist/x.js:1:1)',
    'Client.query (C:\\Users\\A B (old)\\node_modules\\pg\\lib\\client.js:1:1)',
    'process.processTicksAndRejections (node:internal/process/task_queues:1:1)',
    'Socket.emit (node:events:1:1)',
    'async node:fs/promises:1:1',
    `runOne (${root}src${separator}receiver${separator}handling${separator}handlers.ts:1:1)`,
    `toNode (${root}adapters${separator}node.ts:1:1)`,
  ])('not at %s', async (place) => {
    expect(await framesAt(place)).toBe('');
  });
});

describe('nothing of a message gets among the frames:', () => {
  test('a message of several lines that look like frames', async () => {
    for (const message of [
      `a\n${FORGED}`,
      FORGED,
      `\n${FORGED}\n${FORGED}\n`,
      `a: b\n${FORGED}\r\n${FORGED}`,
    ]) {
      clear();
      const frames = await framesOf(new TypeError(message));
      expect(frames).toMatch(here);
      expect(frames).not.toContain('4111');
    }
  });

  test('a message that has been changed since', async () => {
    for (const message of ['', 'other', `other\n${FORGED}`, FORGED]) {
      clear();
      const error = new Error(`a\n${FORGED}`);
      void error.stack;
      error.message = message;
      expect(await framesOf(error)).not.toContain('4111');
    }
  });

  test('a message of a cause', async () => {
    const frames = await framesOf(new Error('a', { cause: new Error(`b\n${FORGED}`) }));
    expect(frames).toMatch(/\[stack: .*\] \[cause: /);
    expect(frames).not.toContain('4111');
  });

  test('a stack that holds other lines, or none', async () => {
    for (const stack of [
      `Error: a\nfor card 4111\n    at 4111\n    at f (4111)\n`,
      'Error: a',
      '',
      4111,
      null,
    ]) {
      clear();
      expect(await framesOf(Object.assign(new Error('a'), { stack }))).toBe('');
    }
  });

  test('control characters of a frame are escaped', async () => {
    const stack = 'Error: a\n    at f\u001b[2J\u202e\u0007 (/a.js:1:1)\n';
    const frames = await framesOf(Object.assign(new Error('a'), { stack }));
    expect(frames).toBe('[stack: at f\\u{1b}[2J\\u{202e}\\u{7} (/a.js:1:1)]');
  });
});

test('the line is of bounded length, whatever the stack', async () => {
  const frame = `    at ${'f'.repeat(2_000)} (/a.js:1:1)\n`;
  const stack = `Error: a\n${frame.repeat(20_000)}`;
  const deep = (depth: number): Error =>
    Object.assign(new Error('a'), { stack, cause: depth === 0 ? undefined : deep(depth - 1) });
  const line = await lineOf(deep(50));
  expect(line.length).toBeGreaterThan(2_000);
  expect(line.length).toBeLessThanOrEqual(4_001);
});

test('a foreign value costs no delivery its answer or its line, as a cause neither', async () => {
  let thrown: unknown;
  const receiver = createUnobserved().on('*', () => {
    throw thrown;
  });
  for (const { name, value } of nastyValues) {
    for (const error of [value, new Error('a', { cause: value })]) {
      thrown = error;
      const { status } = await receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
      expect([name, status]).toEqual([name, 500]);
      const line = printed().join('\n');
      expect(line, name).toMatch(/^posthorn: failed 500 [^\n]*handler_failed: [^\n]*$/);
      if (error !== value) expect(line, name).toMatch(here);
      clear();
    }
  }
});
