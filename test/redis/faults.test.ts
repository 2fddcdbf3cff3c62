import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver, type ReceiverOptions } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createRedisStore, type RedisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { createClient, createClusterClient, ready } from './clients.ts';
import { KEY, reportsOf, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A Redis, what goes wrong with it, and what rights it again; the receiver is told of neither. */
interface Trouble {
  readonly client: RedisClient;
  readonly inflict: () => unknown;
  readonly mend: () => unknown;
  /** Whether the key lies where the trouble is; everywhere if left out. */
  readonly concerns?: (key: string) => boolean;
}

const LIMIT_MS = 90_000;
/** Far below the deadline of 25 seconds, far above two time-outs of a command. */
const WELL_BEFORE_THE_DEADLINE_MS = 8_000;

const fixture = useRedis();

const troubles: Record<string, () => Promise<Trouble>> = {
  'is frozen': async () => {
    const redis = await fixture.servers.single();
    return {
      client: await fixture.connect({ port: redis.port }),
      inflict: () => redis.signal('SIGSTOP'),
      mend: () => redis.signal('SIGCONT'),
    };
  },
  'is killed, and comes back empty': async () => {
    const redis = await fixture.servers.single();
    return { client: await fixture.connect({ port: redis.port }), inflict: redis.kill, mend: redis.restart };
  },
  'is paused': async () => {
    const redis = await fixture.servers.single();
    return {
      client: await fixture.connect({ port: redis.port }),
      inflict: () => redis.command('client', 'pause', '600000', 'write'),
      mend: () => redis.command('client', 'unpause'),
    };
  },
  'is out of memory, with noeviction': async () => {
    const redis = await fixture.servers.single({ 'maxmemory-policy': 'noeviction' });
    return {
      client: await fixture.connect({ port: redis.port }),
      inflict: () => redis.command('config', 'set', 'maxmemory', '1'),
      mend: () => redis.command('config', 'set', 'maxmemory', '0'),
    };
  },
  'sends replies that are swallowed': async () => throughProxy('swallow'),
  'sends replies that are cut short': async () => throughProxy('cut'),
  'has vanished behind its connection without a word': async () => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    onTestFinished(() => proxy.stop());
    const client = await ready(fixture.keep(createClient(5, { port: proxy.port, socketTimeout: 5_000 })));
    return { client, inflict: () => proxy.silenceConnections(), mend: () => {} };
  },
  'fails over by Sentinel': async () => {
    const { master, sentinelPorts } = await fixture.servers.sentinel();
    const sentinels = sentinelPorts.map((port) => ({ host: '127.0.0.1', port }));
    const client = await ready(fixture.keep(createClient(5, { sentinels, name: 'primary' })));
    return { client, inflict: master.kill, mend: () => {} };
  },
  'fails over in a Cluster': async () => {
    const nodes = await fixture.servers.cluster();
    const client = await ready(fixture.keep(createClusterClient(6, nodes[0]?.port ?? 0)));
    const masters = nodes.filter((node) => node.command('role').startsWith('master'));
    const [lost] = masters;
    if (lost === undefined) throw new Error('no master');
    return {
      client,
      inflict: lost.kill,
      mend: () => {},
      concerns: (key) => !lost.command('exists', key).startsWith('MOVED'),
    };
  },
};

async function throughProxy(replies: 'swallow' | 'cut'): Promise<Trouble> {
  const proxy = await TcpProxy.start(fixture.redis.port);
  onTestFinished(() => proxy.stop());
  return {
    client: await fixture.connect({ port: proxy.port }),
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
async function isCompleted(client: RedisClient, id: string): Promise<boolean> {
  const value = await client.eval("return redis.call('GET', KEYS[1])", 1, `faults:${id}`).catch(() => '');
  return value === '1';
}

function temporaryDeadLetters() {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-faults-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return createFileDeadLetters(directory);
}

const names = Object.keys(troubles);

describe('Redis in trouble', () => {
  test.each(names)(
    'every delivery is answered rightly and in time while Redis %s',
    { timeout: LIMIT_MS },
    async (name) => {
      const trouble = await troubles[name]?.();
      if (trouble === undefined) throw new Error('no such trouble');
      const { client, inflict, mend, concerns = () => true } = trouble;
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
        await until('the completion has been recorded', () => isCompleted(client, event.id));
        expect((await another.deliver(event)).outcome).toBe('duplicate');
      }
      for await (const letter of deadLetters.list()) {
        expect((await rejecting.receiver.replay(letter)).outcome).toBe('processed');
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
