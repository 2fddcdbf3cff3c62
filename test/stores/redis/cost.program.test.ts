import { createReceiver } from 'posthorn';
import { createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { KEY, reportsOf, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { commandsDuring } from './monitored.ts';

const request = {
  id: 'evt_0123456789abcdef0123456789ab',
  token: '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
  leaseMs: 20_000,
  retentionMs: 86_400_000,
};

describe('an event costs little', () => {
  const fixture = useRedis();
  afterEach(() => void fixture.redis.command('flushall'));

  const memoryUsage = (): number =>
    Number(fixture.redis.command('memory', 'usage', `billing-1:${request.id}`));

  test('room: at most 104 bytes completed, 200 while it is open', async () => {
    expect(request.id).toHaveLength(32);
    const store = createRedisStore(await fixture.connect(), { scope: 'billing-1', ...ampleTime });
    await store.claim(request);
    const open = memoryUsage();
    await store.complete(request);
    const completed = memoryUsage();
    expect(open).toBeLessThanOrEqual(200);
    expect(completed).toBeLessThanOrEqual(104);
  });

  test('an id of any length costs no more than one of 64 characters', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'billing-1', ...ampleTime });
    await store.complete({ ...request, id: 'x'.repeat(100_000) });
    const [key = ''] = fixture.redis.command('keys', '*').split('\n');
    expect(Number(fixture.redis.command('memory', 'usage', key))).toBeLessThanOrEqual(136);
  });

  test('trips: 2 for a new event, 1 for a duplicate', async () => {
    const client = await fixture.connect();
    const store = createRedisStore(client, { scope: 'billing-1', ...ampleTime });
    await store.claim({ ...request, id: 'makes the scripts known' });
    await store.complete({ ...request, id: 'makes the scripts known' });
    const fresh = await commandsOf(store.claim.bind(store), store.complete.bind(store));
    expect(fresh).toEqual(['evalsha', 'evalsha']);
    expect(await commandsOf(store.claim.bind(store))).toEqual(['evalsha']);
  });

  test('the same through a receiver, and one more where the server has forgotten the script', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'billing-1', ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, store }).on('*', () => {});
    const reports = reportsOf(receiver);
    const deliver = await serve(receiver);
    await deliver(createEvent('transfer.created'));
    const event = createEvent('transfer.created');
    expect(await commandsOf(() => deliver(event))).toEqual(['evalsha', 'evalsha']);
    expect(await commandsOf(() => deliver(event))).toEqual(['evalsha']);
    fixture.redis.command('script', 'flush');
    const another = createEvent('transfer.created');
    expect(await commandsOf(() => deliver(another))).toEqual(['evalsha', 'eval', 'evalsha']);
    expect(reports.map(({ outcome }) => outcome)).toEqual([
      'processed',
      'processed',
      'duplicate',
      'processed',
    ]);
  });

  test('a concurrency key: one trip before the handler, its release beside the completion, and room for a lease', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'billing-1', ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, store, leaseMs: 20_000 }).on('*', () => {}, {
      name: 'book',
      concurrencyKey: ({ data }) => String(data.id),
    });
    const deliver = await serve(receiver);
    await deliver(createEvent('transfer.created'));
    const id = 'tr_0123456789abcdef0123456789abc';
    expect(id).toHaveLength(32);
    const event = createEvent('transfer.created', { id });
    expect(await commandsOf(() => deliver(event))).toEqual(['evalsha', 'evalsha', 'evalsha']);
    const key = `billing-1:handled:key:4:book:${id}`;
    const bytes = Number(fixture.redis.command('memory', 'usage', key));
    process.stdout.write(`a released key in Redis: ${bytes} bytes\n`);
    expect(bytes).toBeGreaterThan(100);
    expect(bytes).toBeLessThanOrEqual(200);
    expect(Number(fixture.redis.command('pttl', key))).toBeLessThanOrEqual(20_000);
  });

  test('it is forgotten after its retention', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'billing-1', ...ampleTime });
    const key = `billing-1:${request.id}`;
    const expiry = (): number => Number(fixture.redis.command('pttl', key));
    await store.claim(request);
    expect(expiry()).toBeGreaterThan(request.retentionMs - 20_000);
    await store.renew(request);
    expect(expiry()).toBeGreaterThan(request.retentionMs - 20_000);
    await store.release({ ...request, handled: [] });
    expect(expiry()).toBeGreaterThan(request.retentionMs - 20_000);
    await store.complete({ ...request, retentionMs: 1_000.5 });
    expect(expiry()).toBeLessThanOrEqual(1_001);
  });

  /** The commands that clients send meanwhile. */
  async function commandsOf(...operations: ((claim: typeof request) => unknown)[]): Promise<string[]> {
    const sent = await commandsDuring(fixture, async () => {
      for (const operate of operations) await operate(request);
    });
    return sent.map(({ name }) => name);
  }
});
