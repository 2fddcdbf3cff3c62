import { createReceiver, type DeadLetter, type ReceiverOptions } from 'posthorn';
import { createRedisDeadLetters, createRedisStore, type IoredisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { freePort } from '../../support/free-port.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { silenced } from '../../support/silenced.ts';
import { throwing } from '../../support/throwing.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { type Client, closed, createClient } from './clients.ts';
import { KEY, reportsOf, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Longer than a test lasts: what waits for so long fails it. */
const ENDLESS_MS = 600_000;
/** How long `receiver.health()` waits for an answer. */
const HEALTH_LIMIT_MS = 2_000;
const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString();
const request = { id: 'evt_1', token: 'a', leaseMs: 60_000, retentionMs: 120_000 };
const notConnected = (status: string) => ({
  code: 'store_unavailable',
  message: expect.stringMatching(`the Redis client is not connected \\(its status is "${status}"\\)`),
});
/** The states through which a client goes until it is connected. */
const CONNECTING = '(connecting|connect|close|reconnecting)';

describe('while Redis is away for long', () => {
  const fixture = useRedis();

  /** A client that is connected to nothing until `connect` is called. */
  async function away() {
    const proxy = await TcpProxy.start(fixture.redis.port);
    const client = await fixture.connect({ port: proxy.port });
    const cut = async (): Promise<void> => {
      const lost = closed(client);
      proxy.cutConnections();
      // The client asks Redis before it is ready.
      proxy.holdRequests();
      await lost;
    };
    await cut();
    return { client, cut, connect: () => proxy.passRequests() };
  }

  async function open(client: Client, options: Partial<ReceiverOptions> = {}, limitMs = ENDLESS_MS) {
    const store = createRedisStore(client, { scope: `outage-${Math.random()}`, commandTimeoutMs: limitMs });
    const receiver = createReceiver({ signingKey: KEY, store, ...options });
    const reports = reportsOf(receiver);
    return { receiver, reports, deliver: await serve(receiver) };
  }

  test('the first deliveries wait, all later ones fail at once, until it is back', async () => {
    // Less than the deadline of a delivery.
    const limitMs = 10_000;
    const { client, connect, cut } = await away();
    const { receiver, deliver } = await open(client, {}, limitMs);
    receiver.on('*', () => {});
    const event = createEvent('transfer.created');
    const refused = { status: 503, code: 'store_unavailable' };
    const forward = forwardedClock();
    const first = deliver(event);
    await until('the first one waits', async () => (await receiver.health()).running === 1);
    forward(limitMs);
    expect(await first).toMatchObject(refused);

    const laterAt = performance.now();
    const later = 20;
    for (let count = 0; count < later; count += 1) expect(await deliver(event)).toMatchObject(refused);
    // Had they waited, each would have done so for as long as the first.
    expect(performance.now() - laterAt).toBeLessThan((later * limitMs) / 2);

    connect();
    await until('the client is ready', () => client.status === 'ready');
    await until('events are handled', async () => (await deliver(event)).status === 200);
    // The next outage is another one.
    await cut();
    const store = createRedisStore(client, { scope: 'again', commandTimeoutMs: ENDLESS_MS });
    const waiting = store.claim(request);
    connect();
    expect(await waiting).toMatchObject({ state: 'claimed' });
  });

  test('those that wait fail together, when the first has waited in vain', async () => {
    const { client } = await away();
    const limitMs = 100_000;
    const claim = async (commandTimeoutMs: number): Promise<void> => {
      const store = createRedisStore(client, { scope: 'together', commandTimeoutMs });
      await expect(store.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
    };
    const forward = forwardedClock();
    const startedAt = performance.now();
    let hasLongerFailed = false;
    const first = claim(limitMs);
    const longer = claim(ENDLESS_MS).then(() => {
      hasLongerFailed = true;
    });
    forward(0.75 * limitMs);
    const second = claim(limitMs);
    forward(0.25 * limitMs);
    await Promise.all([first, second]);
    // By itself the second would fail 0.75 × limitMs later.
    expect(performance.now() - startedAt).toBeLessThan(1.5 * limitMs);
    expect(hasLongerFailed).toBe(false);
    // ioredis does not say that it has ended if it is told so in the pause before it connects again.
    await until('the client connects', () => client.status === 'connect');
    client.disconnect();
    await longer;
  });

  test.each(['end', 'wait'])('a client whose status is "%s" fails everything at once', async (status) => {
    const client = fixture.keep(createClient(6, { port: fixture.redis.port, lazyConnect: true }));
    if (status === 'end') client.disconnect();
    await until('the client has the status', () => client.status === status);
    const store = createRedisStore(client, { scope: 'ended', commandTimeoutMs: ENDLESS_MS });
    for (const operate of [store.claim, store.renew, store.complete, store.release]) {
      await expect(operate({ ...request, handled: [] })).rejects.toMatchObject(notConnected(status));
    }
    expect(client.status).toBe(status);
  });

  test('a line of the default log has no stack, which would name the code of others only', async () => {
    const print = silenced('error');
    const ended = fixture.keep(createClient(6, { port: await freePort() }));
    ended.disconnect();
    const full = await fixture.connect({ port: (await fixture.servers.single({ maxmemory: '1' })).port });
    for (const client of [ended, full]) {
      print.mockClear();
      const store = createRedisStore(client, { scope: 'no-stack', ...ampleTime });
      const deadLetters = createMapDeadLetters();
      const receiver = createReceiver({ signingKey: KEY, store, deadLetters, ...ampleDeadlines });
      const deliver = await serve(receiver.on('*', () => {}));
      expect(await deliver(createEvent('transfer.created'))).toMatchObject({ code: 'store_unavailable' });
      expect(print.mock.calls).toEqual([[expect.stringMatching(/ store_unavailable: .*(OOM|"end")/)]]);
      expect(print.mock.calls.join()).not.toMatch(/\[(stack|cause): /);
    }
  });

  test('what waits fails at once when its client ends', async () => {
    const client = fixture.keep(createClient(6, { port: await freePort() }));
    const store = createRedisStore(client, { scope: 'ending', commandTimeoutMs: ENDLESS_MS });
    const claims = [1, 2, 3].map((number) => store.claim({ ...request, id: `evt_${number}` }));
    const failed = Promise.allSettled(claims);
    client.disconnect();
    expect(await failed).toMatchObject(claims.map(() => ({ reason: notConnected('end') })));
  });

  test('an object around a client that passes on no events waits for nothing', async () => {
    const { client } = await away();
    const around: IoredisClient = {
      get status() {
        return client.status;
      },
      eval: client.eval.bind(client),
      evalsha: client.evalsha.bind(client),
      disconnect: client.disconnect.bind(client),
    };
    const store = createRedisStore(around, { scope: 'around', commandTimeoutMs: ENDLESS_MS });
    await expect(store.claim(request)).rejects.toMatchObject(notConnected(CONNECTING));
  });

  test('health answers in its own time', async () => {
    const { client, connect } = await away();
    const { receiver } = await open(client);
    const advance = fakeTime();
    const health = receiver.health();
    await advance(HEALTH_LIMIT_MS);
    const { store } = await health;
    expect(store).toMatchObject({ ok: false, error: { code: 'store_unavailable' } });
    expect(store.latencyMs).toBeLessThanOrEqual(HEALTH_LIMIT_MS);
    // Its question would wait on.
    connect();
    while (client.status !== 'ready') await advance(20);
  });

  test('bodies that wait are counted, and one that does not fit does not wait', async () => {
    const { client, connect } = await away();
    const limits = { maxBodyBytes: 10_000, maxBufferedBytes: 10_000 };
    const { receiver, reports, deliver } = await open(client, { ...limits, ...ampleDeadlines });
    const handled: string[] = [];
    receiver.on('*', ({ id }) => handled.push(id));
    const large = () => createEvent('transfer.created', { note: 'x'.repeat(6_000) });
    const [waits, refused, parked] = [large(), large(), large()];
    const waiting = deliver(waits);
    await until('its body is counted', async () => (await receiver.health()).running === 1);
    expect(await deliver(refused)).toMatchObject({ status: 503, code: 'buffer_full' });
    // The body of a letter has not been counted before.
    const letter: DeadLetter = createLetter({
      id: parked.id,
      rawBody: Buffer.from(JSON.stringify(parked)),
      runningUntil: undefined,
    });
    expect(await receiver.replay(letter)).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(handled).toEqual([]);
    connect();
    expect(await waiting).toMatchObject({ status: 200 });
    expect((await receiver.replay(letter)).outcome).toBe('processed');
    expect(await deliver(refused)).toMatchObject({ status: 200 });
    expect(handled).toEqual([waits.id, parked.id, refused.id]);
    expect(reports.map(({ code }) => code)).toEqual([
      'buffer_full',
      'store_unavailable',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('a claim that may wait for longer is refused after commandTimeoutMs all the same', async () => {
    const { client } = await away();
    const store = createRedisStore(client, { scope: 'outage', commandTimeoutMs: 500 });
    await expect(store.claim({ ...request, waitMs: ENDLESS_MS })).rejects.toMatchObject(
      notConnected(CONNECTING),
    );
  });

  test('what may not wait is sent once, though its client still counts as ready', async () => {
    let sent = 0;
    const evalsha = (): Promise<never> => {
      sent += 1;
      return Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    };
    const client = { status: 'ready', on: () => {}, eval: evalsha, evalsha, disconnect: () => {} };
    const store = createRedisStore(client, { scope: 'half-closed', commandTimeoutMs: ENDLESS_MS });
    await expect(store.claim({ ...request, waitMs: 0 })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(sent).toBe(1);
  });

  test("with onStoreFailure: 'process' nothing waits", async () => {
    const { client } = await away();
    const { receiver, reports, deliver } = await open(client, { onStoreFailure: 'process' });
    receiver.on('transfer.*', throwing('fails'));
    expect(await deliver(createEvent('transfer.created'))).toMatchObject({ status: 500 });
    expect(reports[0]?.warnings.join()).toMatch(/claimed_nothing: .*release_failed: /);
    const advance = fakeTime();
    const health = receiver.health();
    await advance(HEALTH_LIMIT_MS);
    expect((await health).store).toMatchObject({ ok: false, error: notConnected(CONNECTING) });
  });

  test("with onStoreFailure: 'process' a last attempt does not wait for its letter either", async () => {
    const { client } = await away();
    const deadLetters = createRedisDeadLetters(client, { scope: 'outage', ...ampleTime });
    const deadlineMs = 5_000;
    const { receiver, reports } = await open(client, { onStoreFailure: 'process', deadLetters, deadlineMs });
    const handled: unknown[] = [];
    receiver.on('transfer.*', ({ id }) => handled.push(id));
    const event = { ...createEvent('transfer.created'), created_at: hourAgo() };
    const advance = fakeTime();
    const answer = receiver.receive(deliveryOf(event));
    // The completion is tried until the deadline.
    await advance(deadlineMs);
    expect((await answer).status).toBe(200);
    expect(reports[0]?.outcome).toBe('processed');
    expect(handled).toEqual([event.id]);
    // The dead letters themselves would have waited, and then given the status of the client.
    expect(reports[0]?.warnings.join()).toContain(
      'dead_letter_not_stored: the dead letters failed: they are not connected',
    );
  });
});
