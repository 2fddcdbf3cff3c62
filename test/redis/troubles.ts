import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver, type ReceiverOptions } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createRedisStore, type RedisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { KEY, reportsOf, serve } from './deliveries.ts';
import type { Driver, OpenClient } from './drivers.ts';
import { type Fixture, useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A Redis, what goes wrong with it, and what rights it again; the receiver is told of neither. */
interface Trouble {
  readonly open: OpenClient;
  readonly inflict: () => unknown;
  readonly mend: () => unknown;
  /** Whether the key lies where the trouble is; everywhere if left out. */
  readonly concerns?: (key: string) => boolean;
}

const LIMIT_MS = 90_000;
/** Far below the deadline of 25 seconds, far above two time-outs of a command. */
const WELL_BEFORE_THE_DEADLINE_MS = 8_000;

const troubles: Record<string, (driver: Driver, fixture: Fixture) => Promise<Trouble>> = {
  'is frozen': async (driver, fixture) => {
    const redis = await fixture.servers.single();
    return {
      open: await driver.single(redis.port),
      inflict: () => redis.signal('SIGSTOP'),
      mend: () => redis.signal('SIGCONT'),
    };
  },
  'is killed, and comes back empty': async (driver, fixture) => {
    const redis = await fixture.servers.single();
    return { open: await driver.single(redis.port), inflict: redis.kill, mend: redis.restart };
  },
  'is paused': async (driver, fixture) => {
    const redis = await fixture.servers.single();
    return {
      open: await driver.single(redis.port),
      inflict: () => redis.command('client', 'pause', '600000', 'write'),
      mend: () => redis.command('client', 'unpause'),
    };
  },
  'is out of memory, with noeviction': async (driver, fixture) => {
    const redis = await fixture.servers.single({ 'maxmemory-policy': 'noeviction' });
    return {
      open: await driver.single(redis.port),
      inflict: () => redis.command('config', 'set', 'maxmemory', '1'),
      mend: () => redis.command('config', 'set', 'maxmemory', '0'),
    };
  },
  'sends replies that are swallowed': (driver, fixture) => throughProxy(driver, fixture, 'swallow'),
  'sends replies that are cut short': (driver, fixture) => throughProxy(driver, fixture, 'cut'),
  'has gone without closing the connection': async (driver, fixture) => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    onTestFinished(() => proxy.stop());
    const open = await driver.single(proxy.port, { socketTimeout: 5_000 });
    return { open, inflict: () => proxy.silenceConnections(), mend: () => {} };
  },
  'fails over by Sentinel': async (driver, fixture) => {
    const { master, sentinelPorts } = await fixture.servers.sentinel();
    return { open: await driver.sentinel(sentinelPorts), inflict: master.kill, mend: () => {} };
  },
  'fails over in a Cluster': async (driver, fixture) => {
    const nodes = await fixture.servers.cluster();
    const open = await driver.cluster?.(nodes[0]?.port ?? 0);
    const masters = nodes.filter((node) => node.command('role').startsWith('master'));
    const [lost] = masters;
    if (lost === undefined || open === undefined) throw new Error('no master, or no client');
    return {
      open,
      inflict: lost.kill,
      mend: () => {},
      concerns: (key) => !lost.command('exists', key).startsWith('MOVED'),
    };
  },
};

async function throughProxy(driver: Driver, fixture: Fixture, replies: 'swallow' | 'cut'): Promise<Trouble> {
  const proxy = await TcpProxy.start(fixture.redis.port);
  onTestFinished(() => proxy.stop());
  return {
    open: await driver.single(proxy.port),
    inflict: () => proxy.treatReplies(replies),
    mend: () => proxy.treatReplies('pass'),
  };
}

/** A receiver on sockets, whose handler waits for its gate. */
async function receiverOn(client: RedisClient, options: Partial<ReceiverOptions> = {}) {
  const handled: string[] = [];
  const gate = { opened: Promise.resolve(), begun: () => {} };
  const store = createRedisStore(client, { scope: 'faults', commandTimeoutMs: 1_000 });
  const receiver = createReceiver({ signingKey: KEY, store, ...options }).on('*', async ({ id }) => {
    gate.begun();
    await gate.opened;
    handled.push(id);
  });
  const reports = reportsOf(receiver);
  return { receiver, reports, handled, gate, deliver: await serve(receiver) };
}

/** Looks without a claim, which would take the event. */
async function isCompleted({ get }: OpenClient, id: string): Promise<boolean> {
  return (await get(`faults:${id}`).catch(() => '')) === '1';
}

function temporaryDeadLetters() {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-faults-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return createFileDeadLetters(directory);
}

/** The names of the troubles. */
export const names: readonly string[] = Object.keys(troubles);

/** Adds the tests of what must hold in each of the named troubles. */
export function describeTroubles(driver: Driver, chosen: readonly string[]): void {
  describe(`Redis in trouble, with ${driver.name}`, () => {
    const fixture = useRedis();
    test.each(chosen)(
      'every delivery is answered rightly and in time while Redis %s',
      { timeout: LIMIT_MS },
      async (name) => {
        const trouble = await troubles[name]?.(driver, fixture);
        if (trouble === undefined) throw new Error('no such trouble');
        const { open: opened, inflict, mend, concerns = () => true } = trouble;
        onTestFinished(opened.close);
        const { client } = opened;
        const create = (createdAt = Date.now()) => {
          let event = createEvent('transfer.created');
          while (!concerns(`faults:${event.id}`)) event = createEvent('transfer.created');
          return { ...event, created_at: new Date(createdAt).toISOString() };
        };

        const deadLetters = temporaryDeadLetters();
        const rejecting = await receiverOn(client, { deadLetters });
        const processing = await receiverOn(client, { onStoreFailure: 'process' });
        const running = await receiverOn(client);
        const [refused, final, unclaimed, begun] = [
          create(),
          create(Date.now() - 1_000_000),
          create(),
          create(),
        ];

        let open = (): void => {};
        running.gate.opened = new Promise((resolve) => {
          open = resolve;
        });
        const hasBegun = new Promise<void>((resolve) => {
          running.gate.begun = resolve;
        });
        const ofBegun = running.deliver(begun);
        await hasBegun;
        await inflict();
        open();
        const answers = await Promise.all([
          rejecting.deliver(refused),
          rejecting.deliver(final),
          processing.deliver(unclaimed),
          ofBegun,
        ]);
        expect(answers).toMatchObject([
          { status: 503, code: 'store_unavailable' },
          { status: 200, outcome: 'parked' },
          { status: 200, outcome: 'processed' },
          { status: 200, outcome: 'processed' },
        ]);
        for (const { durationMs } of answers) expect(durationMs).toBeLessThan(WELL_BEFORE_THE_DEADLINE_MS);
        expect(rejecting.handled).toEqual([]);
        expect(processing.reports[0]?.warnings.join()).toContain('claimed_nothing');
        expect(running.reports[0]?.warnings.join()).toContain('completion_pending');

        await mend();
        const another = await receiverOn(client);
        await until('the refused event is taken at its retry', async () => {
          return (await rejecting.deliver(refused)).outcome === 'processed';
        });
        expect((await another.deliver(refused)).outcome).toBe('duplicate');
        for (const event of [unclaimed, begun]) {
          await until('the completion has been recorded', () => isCompleted(opened, event.id));
          expect((await another.deliver(event)).outcome).toBe('duplicate');
        }
        for await (const letter of deadLetters.list()) {
          // A claim whose reply was lost holds until its release is through.
          await until('the letter is replayed', async () => {
            return (await rejecting.receiver.replay(letter)).outcome === 'processed';
          });
        }
        expect(rejecting.handled).toEqual([refused.id, final.id]);
        expect([processing.handled, running.handled, another.handled]).toEqual([
          [unclaimed.id],
          [begun.id],
          [],
        ]);
      },
    );
  });
}
