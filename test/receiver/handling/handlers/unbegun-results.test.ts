import { Readable } from 'node:stream';
import { ConfigurationError, createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { createSqliteInbox } from 'posthorn/sqlite';
import { of } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { ListQueue } from '../../queue/list-queue.ts';

async function* inAsyncGenerator(): AsyncGenerator<never> {}
function* inGenerator(): Generator<never> {}
const compiled = (): unknown => inAsyncGenerator();
const schemaOf = (validate: () => unknown): object => ({
  transfer: { '~standard': { version: 1, vendor: 'test', validate } },
});
const observable = { subscribe: () => {}, '@@observable': () => {} };

/** Untyped, for results that the compiler would not let pass. */
function open(options: object, ...register: [keyof Receiver, ...unknown[]][]) {
  return openDirectly(options as EndpointOptions, (receiver) => {
    for (const [method, ...given] of register)
      Reflect.apply(Reflect.get(receiver, method) as () => unknown, receiver, given);
  });
}

describe('an event whose work has not begun fails, and the report names its handler:', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['a generator', () => inGenerator(), /^the handler "book" failed: it returned a generator/],
    ['an async generator', compiled, /^the handler "book" failed: it returned a generator/],
    ['a promise of one', async () => compiled(), /^the handler "book" failed: it returned a generator/],
    ['an Observable', () => of(1), /^the handler "book" failed: it returned an Observable/],
    ['one of another library', () => observable, /^the handler "book" failed: it returned an Obs/],
  ])('%s', async (_, handler, message) => {
    const key = { concurrencyKey: ({ id }: { id: string }) => id };
    for (const options of [{}, key])
      for (const middlewares of [[], [(_event: unknown, _context: unknown, next: () => unknown) => next()]]) {
        const used = middlewares.map((use): [keyof Receiver, unknown] => ['use', use]);
        const { reports, send } = open({}, ...used, ['on', '*', handler, { name: 'book', ...options }]);
        expect(await send(eventAt(Date.now()))).toMatchObject({ status: 500 });
        expect(reports.all[0]).toMatchObject({ code: 'handler_failed', handlers: [{ ok: false }] });
        expect(reports.all[0]?.error?.message).toMatch(message);
      }
  });

  const putFails = { deadLetters: { ...createMapDeadLetters(), put: compiled } };
  test.each<[string, object, [keyof Receiver, ...unknown[]][], number, RegExp]>([
    ['onUnhandled', {}, [['onUnhandled', compiled]], 500, /^a handler failed: it returned a generator/],
    ['a middleware', {}, [['use', compiled]], 500, /a middleware of receiver\.use\(\) returned a generator/],
    ['a schema', { schemas: schemaOf(compiled) }, [], 500, /of "transfer" .*: validate\(\) returned a gen/],
    ['an Observable of a middleware', {}, [['use', () => of(1)]], 500, /use\(\) returned an Observable/],
    ['dead letters', putFails, [['on', 'transfer.*', () => Promise.reject(new Error('away'))]], 500, /away/],
  ])('%s', async (name, options, register, status, message) => {
    const others: typeof register = name === 'onUnhandled' ? [] : [['on', '*', () => {}]];
    const { reports, send } = open(options, ...register, ...others);
    expect(await send(eventAt(Date.now() - 15 * MINUTE_MS))).toMatchObject({ status });
    expect(reports.all[0]).toMatchObject({ endpointAtRisk: true });
    expect(reports.all[0]?.error?.message).toMatch(message);
  });

  test('a queue, and a worker', async () => {
    const queue = new ListQueue();
    const { receiver, reports, send } = open({ queue }, ['on', '*', compiled, { name: 'book', queue: true }]);
    const event = eventAt(Date.now());
    expect(await send(event)).toMatchObject({ status: 202 });
    expect(await receiver.dispatch(queue.take(), { attempt: 1, final: false })).toMatchObject({
      error: { message: expect.stringMatching(/^the handler "book" failed: it returned a generator/) },
    });
    Reflect.set(queue, 'add', compiled);
    expect(await send(eventAt(Date.now()))).toMatchObject({ status: 503 });
    expect(reports.all.at(-1)?.error?.message).toMatch(/^the queue did not take .*: add\(\) returned a gen/);
  });
});

test.each<[string, unknown]>([
  ['a list', [1]],
  ['a Map', new Map()],
  ['a stream', Readable.from([])],
  ['a query builder', Object.fromEntries([['then', (end: (rows: unknown) => void) => end([])]])],
  ['a cursor, whose iterator is another object', { next: () => {}, [Symbol.asyncIterator]: compiled }],
  ['an iterator that throws', { next: () => {}, [Symbol.iterator]: () => Readable.from(1 as never) }],
  ['a client with subscribe()', { subscribe: () => {} }],
])('%s is a value', async (_, value) => {
  const { send } = open({}, ['on', '*', () => value]);
  const event = eventAt(Date.now());
  expect(await send(event)).toEqual(accepted('processed', event.id));
});

describe('a generator function is refused when it is registered, as', () => {
  const inbox = createSqliteInbox(
    { exec: () => {}, prepare: () => ({ run: () => {}, get: () => {}, all: () => [] }) },
    { scope: 'generators' },
  );
  const create = (options: object) => () => createReceiver({ signingKey: KEY, ...options });
  const receiver = createReceiver({ signingKey: KEY });
  test.each<[string, (generator: () => unknown) => unknown, RegExp]>([
    ['a handler', (it) => receiver.on('*', it), /the handler must not be a generator function/],
    ['onUnhandled', (it) => receiver.onUnhandled(it), /the onUnhandled handler must not be a/],
    ['a middleware', (it) => receiver.use(it), /the middleware must not be a generator function/],
    ['a handler of an inbox', (it) => inbox.once('a', it), /the handler of once\(\) must not be a gen/],
    ['a schema', (it) => create({ schemas: schemaOf(it) })(), /validate of schemas\.transfer must not/],
    ['a store', (claim) => create({ store: { ...createMemoryStore(), claim } })(), /claim of store must not/],
    ['dead letters', (put) => create({ deadLetters: { ...createMapDeadLetters(), put } })(), /put of deadL/],
    ['a queue', (add) => create({ queue: { add, close() {} } })(), /add of queue must not be/],
  ])('%s', (_, register, message) => {
    for (const generator of [inGenerator, inAsyncGenerator]) {
      expect(() => register(generator)).toThrow(ConfigurationError);
      expect(() => register(generator)).toThrow(message);
    }
  });

  test('what does not compile', () => {
    // @ts-expect-error a generator is not a result
    void ((fresh: Receiver) => fresh.on('*', inAsyncGenerator));
    // @ts-expect-error nor is a promise of one
    void ((fresh: Receiver) => fresh.on('*', async () => inGenerator()));
    // @ts-expect-error nor in `onUnhandled`
    void ((fresh: Receiver) => fresh.onUnhandled(inAsyncGenerator));
    // @ts-expect-error nor in a middleware
    void ((fresh: Receiver) => fresh.use(inGenerator));
    // @ts-expect-error nor in an inbox
    void (() => inbox.once('a', inGenerator));
  });
});
