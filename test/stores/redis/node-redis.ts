import { createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore, type NodeRedisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { errorOf } from '../../support/error-of.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { KEY, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** What both majors share. */
interface Client extends NodeRedisClient {
  on(event: 'ready' | 'end' | 'error', listener: () => void): unknown;
  echo(text: string): Promise<unknown>;
  close(): Promise<unknown>;
  listenerCount(event: string): number;
}

interface ClientOptions {
  readonly disableOfflineQueue?: boolean;
  readonly commandsQueueMaxLength?: number;
}

/** Where the client connects, and that it does so again at once. */
interface SocketOptions {
  readonly host: string;
  readonly port: number;
  readonly reconnectStrategy: () => number;
}

const times = { leaseMs: 120_000, retentionMs: 240_000 };
/** How long a connection may be silent, and more. */
const LONG_SILENCE_MS = 6_000;
const notReady = (status: string) =>
  errorOf('store_unavailable', `the Redis client is not connected (its status is "${status}")`);

/** Hears the errors of a client, and destroys it when the test ends. */
export function keep<C extends NodeRedisClient & { on(event: 'error', listener: () => void): unknown }>(
  client: C,
): C {
  client.on('error', () => {});
  onTestFinished(() => {
    if (client.isOpen) client.destroy();
  });
  return client;
}

/** Adds the tests of what is special to a client of node-redis. */
export function describeNodeRedis(
  name: string,
  createClient: (options: ClientOptions & { readonly socket: SocketOptions }) => Client,
): void {
  describe(`the store with ${name}`, () => {
    const fixture = useRedis();
    const create = (port: number, options: ClientOptions = {}): Client =>
      createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: () => 50 }, ...options });

    async function throughProxy(options: ClientOptions = {}) {
      const proxy = await TcpProxy.start(fixture.redis.port);
      const client = keep(create(proxy.port, options));
      await client.connect();
      const loseConnection = async (): Promise<void> => {
        proxy.holdRequests();
        proxy.cutConnections();
        await until('the client has noticed', () => !client.isReady);
      };
      return { proxy, client, loseConnection };
    }

    test('refuses nothing while its client begins to connect', async () => {
      const client = keep(create(fixture.redis.port));
      const connecting = client.connect();
      expect(client.isReady).toBe(false);
      const options = { scope: `start-${name.at(-1)}`, ...ampleTime };
      const claim = await createRedisStore(client, options).claim({ ...times, id: 'evt', token: 'a' });
      expect(claim).toMatchObject({ state: 'claimed', attempt: 1 });
      expect(await readAll(createRedisDeadLetters(client, options).list())).toEqual([]);
      await connecting;
    });

    test('sends nothing to a client that the application has not connected, or has closed', async () => {
      const client = keep(create(fixture.redis.port));
      const store = createRedisStore(client, { scope: 'closed', ...ampleTime });
      await expect(store.claim({ ...times, id: 'evt', token: 'a' })).rejects.toMatchObject(
        notReady('closed'),
      );
      await client.connect();
      expect(await store.claim({ ...times, id: 'evt', token: 'a' })).toMatchObject({ state: 'claimed' });
      client.destroy();
      await expect(store.renew({ ...times, id: 'evt', token: 'a' })).rejects.toMatchObject(
        notReady('closed'),
      );
    });

    test('lets deliveries wait while the connection is lost for a moment, with one listener for all', async () => {
      const { proxy, client, loseConnection } = await throughProxy();
      const options = { scope: `blip-${name.at(-1)}`, ...ampleTime };
      const receiver = createReceiver({
        signingKey: KEY,
        store: createRedisStore(client, options),
        ...ampleDeadlines,
      });
      const handled: string[] = [];
      const deliver = await serve(receiver.on('*', ({ id }) => void handled.push(id)).observe(() => {}));
      const count = () => [client.listenerCount('ready'), client.listenerCount('end')];
      const before = count();
      await loseConnection();
      const events = Array.from({ length: 20 }, () => createEvent('transfer.created'));
      const answers = Promise.all(events.map(deliver));
      await until('all wait', async () => (await receiver.health()).running === events.length);
      proxy.passRequests();
      for (const answer of await answers) expect(answer).toMatchObject({ status: 200, outcome: 'processed' });
      expect(handled.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect(count()).toEqual(before.map((listeners) => listeners + 1));
    });

    test('lets an operation that may not wait fail at once, and no other with it', async () => {
      const { proxy, client, loseConnection } = await throughProxy();
      const store = createRedisStore(client, { scope: 'impatient', ...ampleTime });
      await loseConnection();
      const waiting = store.claim({ ...times, id: `waiting-${name}`, token: 'a' });
      const impatient = { ...times, id: 'impatient', token: 'a', handled: [], waitMs: 0 };
      for (const operate of [store.claim, store.renew, store.complete, store.release])
        await expect(operate(impatient)).rejects.toMatchObject(notReady('connecting'));
      proxy.passRequests();
      expect(await waiting).toMatchObject({ state: 'claimed', attempt: 1 });
    });

    test('fails at once in a long outage, and answers once it is over', async () => {
      const { proxy, client, loseConnection } = await throughProxy();
      const store = createRedisStore(client, { scope: 'long', ...ampleTime });
      const forward = forwardedClock();
      await loseConnection();
      const claim = () => store.claim({ ...times, id: `long-${name}`, token: 'a' });
      const first = awaitedLater(Promise.resolve(claim()));
      forward(ampleTime.commandTimeoutMs);
      await expect(first).rejects.toMatchObject(notReady('connecting'));
      const startedAt = performance.now();
      await expect(claim()).rejects.toMatchObject(notReady('connecting'));
      // Nobody has put the clock forward: it would have had to wait for all of that time.
      expect(performance.now() - startedAt).toBeLessThan(ampleTime.commandTimeoutMs / 2);
      proxy.passRequests();
      await until('the client is ready', () => client.isReady);
      expect(await claim()).toMatchObject({ state: 'claimed', attempt: 1 });
    });

    test('with disableOfflineQueue waits all the same', async () => {
      const client = keep(create(fixture.redis.port, { disableOfflineQueue: true }));
      const connecting = client.connect();
      const store = createRedisStore(client, { scope: 'offline', ...ampleTime });
      expect(await store.claim({ ...times, id: name, token: 'a' })).toMatchObject({ state: 'claimed' });
      await connecting;
    });

    test('sends a script again that the server has forgotten', async () => {
      const { client } = await throughProxy();
      const store = createRedisStore(client, { scope: `flushed-${name.at(-1)}`, ...ampleTime });
      const request = { ...times, id: 'evt', token: 'a', handled: [] };
      const flush = () => fixture.redis.command('script', 'flush');
      flush();
      expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1 });
      flush();
      expect(await store.renew(request)).toEqual({ state: 'held' });
      flush();
      expect(await store.release(request)).toEqual({ state: 'released' });
    });

    test('connects anew after a reply that belongs to another command', async () => {
      const { client } = await throughProxy();
      let answersOf: 'own' | 'another' = 'own';
      let last: unknown;
      const confused: NodeRedisClient = {
        get isReady() {
          return client.isReady;
        },
        get isOpen() {
          return client.isOpen;
        },
        eval: client.eval.bind(client),
        evalSha: async (sha1, options) => {
          const reply = await client.evalSha(sha1, options);
          const before = last;
          last = reply;
          return answersOf === 'own' ? reply : before;
        },
        connect: () => client.connect(),
        destroy: () => client.destroy(),
        on: (event, listener) => client.on(event, listener),
      };
      const store = createRedisStore(confused, { scope: `confused-${name.at(-1)}`, ...ampleTime });
      await store.complete({ id: 'completed', token: 'a', retentionMs: 60_000 });
      expect(await store.claim({ ...times, id: 'completed', token: 'b' })).toEqual({ state: 'completed' });
      answersOf = 'another';
      // Without the check the claim would be answered `completed`, and the event dropped.
      await expect(store.claim({ ...times, id: 'new', token: 'b' })).rejects.toThrow(
        /reply to another command/,
      );
      answersOf = 'own';
      await until('the client has connected anew', () => client.isReady);
      expect(await store.claim({ ...times, id: 'newer', token: 'b' })).toMatchObject({ state: 'claimed' });
    });

    test('tries to connect until it succeeds, and lets operations wait meanwhile', async () => {
      const { client } = await throughProxy();
      let isConfused = true;
      let refusals = 2;
      const reluctant: NodeRedisClient = {
        get isReady() {
          return client.isReady;
        },
        get isOpen() {
          return client.isOpen;
        },
        eval: client.eval.bind(client),
        evalSha: async (sha1, options) => (isConfused ? [] : client.evalSha(sha1, options)),
        // As a Sentinel or a Cluster that finds no server.
        connect: () => {
          refusals -= 1;
          return refusals < 0 ? client.connect() : Promise.reject(new Error('no server is there'));
        },
        destroy: () => client.destroy(),
        on: (event, listener) => client.on(event, listener),
      };
      const options = { scope: 'reluctant', ...ampleTime };
      const claim = () => createRedisStore(reluctant, options).claim({ ...times, id: name, token: 'a' });
      await expect(claim()).rejects.toThrow(/reply to another command/);
      isConfused = false;
      expect(client.isOpen).toBe(false);
      expect(await claim()).toMatchObject({ state: 'claimed' });
      expect(refusals).toBe(-1);
    });

    test('fails at once while the application closes the client, and does not open it again', async () => {
      const { proxy, client } = await throughProxy();
      const store = createRedisStore(client, { scope: `closing-${name.at(-1)}`, ...ampleTime });
      const claim = () => store.claim({ ...times, id: 'evt', token: 'a' });
      await claim();
      proxy.holdRequests();
      const pending = client.echo('pending');
      const closed = client.close();
      await expect(claim()).rejects.toMatchObject(notReady('closed'));
      proxy.passRequests();
      expect(await pending).toBe('pending');
      await closed;
      expect(client.isOpen).toBe(false);
    });

    test('connects anew if replies stop, though the client refuses further commands by itself', async () => {
      const { proxy, client } = await throughProxy({ commandsQueueMaxLength: 10 });
      const store = createRedisStore(client, { scope: `full-${name.at(-1)}`, ...ampleTime });
      const claim = (id: string) => store.claim({ ...times, id, token: 'a' });
      const forward = forwardedClock();
      await claim('before');
      proxy.silenceConnections();
      const others = Promise.allSettled(Array.from({ length: 10 }, () => client.echo('of the application')));
      for (const claims of [['a', 'b'], ['c']])
        for (const refused of await Promise.allSettled(claims.map(claim)))
          expect(refused).toMatchObject({
            reason: { message: expect.stringContaining('The queue is full') },
          });
      forward(LONG_SILENCE_MS);
      const answers = await Promise.all(['d', 'e'].map(claim));
      expect(answers).toMatchObject([{ state: 'claimed' }, { state: 'claimed' }]);
      await others;
    });

    test('keeps a letter with any text, and lists it by an id that looks like JSON', async () => {
      const client = keep(create(fixture.redis.port));
      await client.connect();
      const deadLetters = createRedisDeadLetters(client, { scope: `texts-${name.at(-1)}`, ...ampleTime });
      for (const id of ['{"a":1}', '"quoted"', 'null', '12', '[1]', '=']) {
        await deadLetters.put(createLetter({ id, message: `💶 ${id}` }));
        expect(await deadLetters.get(id)).toMatchObject({ id, message: `💶 ${id}` });
      }
      expect(await readAll(deadLetters.list())).toHaveLength(6);
    });
  });
}
