import { createReceiver, type ReceiverOptions, type WebhookEvent } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createRedisStore, type RedisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Gate } from '../../support/gate.ts';
import { ampleTime } from '../../support/limits.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { type Answered, KEY, reportsOf, serve } from './deliveries.ts';
import { type Driver, drivers, type OpenClient } from './drivers.ts';
import { type Fixture, useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A Redis, what goes wrong with it, and what rights it again; the receivers are told of neither. */
interface Trouble {
  /** Resolves with undefined if posthorn refuses the client. */
  readonly open: (driver: Driver) => Promise<OpenClient> | undefined;
  readonly inflict: () => unknown;
  readonly mend: () => unknown;
  /** Whether the key lies where the trouble is; everywhere if left out. */
  readonly concerns?: (key: string) => boolean;
}

/** Below the deadline of 25 seconds, above two time-outs of a command. */
const BEFORE_THE_DEADLINE_MS = 20_000;

const troubles: Record<string, (fixture: Fixture) => Promise<Trouble>> = {
  'is frozen': async ({ servers }) => {
    const redis = await servers.single();
    return {
      open: (driver) => driver.single(redis.port),
      inflict: () => redis.signal('SIGSTOP'),
      mend: () => redis.signal('SIGCONT'),
    };
  },
  'is killed, and comes back empty': async ({ servers }) => {
    const redis = await servers.single();
    return { open: (driver) => driver.single(redis.port), inflict: redis.kill, mend: redis.restart };
  },
  'is paused': async ({ servers }) => {
    const redis = await servers.single();
    return {
      open: (driver) => driver.single(redis.port),
      inflict: () => redis.command('client', 'pause', '600000', 'write'),
      mend: () => redis.command('client', 'unpause'),
    };
  },
  'is out of memory, with noeviction': async ({ servers }) => {
    const redis = await servers.single({ 'maxmemory-policy': 'noeviction' });
    return {
      open: (driver) => driver.single(redis.port),
      inflict: () => redis.command('config', 'set', 'maxmemory', '1'),
      mend: () => redis.command('config', 'set', 'maxmemory', '0'),
    };
  },
  'sends replies that are swallowed': (fixture) => throughProxy(fixture, 'swallow'),
  'sends replies that are cut short': (fixture) => throughProxy(fixture, 'cut'),
  'has gone without closing the connection': async (fixture) => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    return {
      open: (driver) => driver.single(proxy.port, { socketTimeout: 5_000 }),
      inflict: () => proxy.silenceConnections(),
      mend: () => {},
    };
  },
  'fails over by Sentinel': async ({ servers }) => {
    const { master, sentinelPorts } = await servers.sentinel({ downAfterMs: 4_000 });
    return { open: (driver) => driver.sentinel(sentinelPorts), inflict: master.kill, mend: () => {} };
  },
  'fails over in a Cluster': async ({ servers }) => {
    const nodes = await servers.cluster({ nodeTimeoutMs: 4_000 });
    const [lost] = nodes.filter((node) => node.command('role').startsWith('master'));
    if (lost === undefined) throw new Error('no master');
    return {
      open: (driver) => driver.cluster?.(nodes[0]?.port ?? 0),
      inflict: lost.kill,
      mend: () => {},
      concerns: (key) => !lost.command('exists', key).startsWith('MOVED'),
    };
  },
};

async function throughProxy(fixture: Fixture, replies: 'swallow' | 'cut'): Promise<Trouble> {
  const proxy = await TcpProxy.start(fixture.redis.port);
  return {
    open: (driver) => driver.single(proxy.port),
    inflict: () => proxy.treatReplies(replies),
    mend: () => proxy.treatReplies('pass'),
  };
}

/** A receiver on sockets, whose handler waits for its gate. */
async function receiverOn(
  client: RedisClient,
  options: Partial<ReceiverOptions> & { readonly commandTimeoutMs?: number } = {},
) {
  const { commandTimeoutMs = 1_000, ...settings } = options;
  const handled: string[] = [];
  const gate = new Gate();
  const store = createRedisStore(client, { scope: 'faults', commandTimeoutMs });
  const receiver = createReceiver({ signingKey: KEY, store, ...settings }).on('*', async ({ id }) => {
    await gate.pass();
    handled.push(id);
  });
  const reports = reportsOf(receiver);
  return { receiver, reports, handled, gate, deliver: await serve(receiver) };
}

/** Looks without a claim, which would take the event. */
async function isCompleted({ get }: OpenClient, id: string): Promise<boolean> {
  return (await get(`faults:${id}`).catch(() => '')) === '1';
}

/** Receivers with one client, before, during and after the trouble. */
async function receiversOf(open: OpenClient, concerns: (key: string) => boolean) {
  const { client } = open;
  const create = (createdAt = Date.now()): WebhookEvent => {
    let event = createEvent('transfer.created');
    while (!concerns(`faults:${event.id}`)) event = createEvent('transfer.created');
    return { ...event, created_at: new Date(createdAt).toISOString() };
  };
  const deadLetters = createFileDeadLetters(temporaryDirectory());
  const rejecting = await receiverOn(client, { deadLetters });
  const processing = await receiverOn(client, { onStoreFailure: 'process' });
  const running = await receiverOn(client);
  const another = await receiverOn(client, ampleTime);
  const [refused, final, unclaimed, begun] = [create(), create(Date.now() - 1_000_000), create(), create()];

  let answerOfBegun: Promise<Answered> | undefined;

  return {
    /** Delivers an event until its handler runs: a busy machine may reach the short limit of the store. */
    begin: async (): Promise<void> => {
      const { gate, deliver } = running;
      gate.shut();
      for (;;) {
        answerOfBegun = deliver(begun);
        const refusal = await Promise.race([gate.held.nth(1).then(() => undefined), answerOfBegun]);
        if (refusal === undefined) return;
        expect(refusal.code).toBe('store_unavailable');
      }
    },
    meet: async (): Promise<void> => {
      running.gate.open();
      const answers = await Promise.all([
        rejecting.deliver(refused),
        rejecting.deliver(final),
        processing.deliver(unclaimed),
        answerOfBegun,
      ]);
      expect(answers).toMatchObject([
        { status: 503, code: 'store_unavailable' },
        { status: 200, outcome: 'parked' },
        { status: 200, outcome: 'processed' },
        { status: 200, outcome: 'processed' },
      ]);
      for (const answer of answers) expect(answer?.durationMs).toBeLessThan(BEFORE_THE_DEADLINE_MS);
      expect(rejecting.handled).toEqual([]);
      expect(processing.reports[0]?.warnings.join()).toContain('claimed_nothing');
      expect(running.reports.at(-1)?.warnings.join()).toContain('completion_pending');
    },
    recover: async (): Promise<void> => {
      await until('the refused event is taken at its retry', async () => {
        return (await rejecting.deliver(refused)).outcome === 'processed';
      });
      expect((await another.deliver(refused)).outcome).toBe('duplicate');
      for (const event of [unclaimed, begun]) {
        await until('the completion has been recorded', () => isCompleted(open, event.id));
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
  };
}

describe('Redis in trouble, with every client', () => {
  const fixture = useRedis();

  test.each(Object.entries(troubles))(
    'every delivery is answered rightly and in time while Redis %s',
    async (_name, start) => {
      const { open, inflict, mend, concerns = () => true } = await start(fixture);
      const receivers = new Map<string, Awaited<ReturnType<typeof receiversOf>>>();
      for (const driver of drivers) {
        const opened = await open(driver);
        if (opened === undefined) continue;
        onTestFinished(opened.close);
        receivers.set(driver.name, await receiversOf(opened, concerns));
      }
      /** Says of which client a failure is. */
      const withEach = (step: 'begin' | 'meet' | 'recover') =>
        Promise.all(
          Array.from(receivers, ([name, each]) =>
            each[step]().catch((cause) => {
              throw new Error(`with ${name}: ${cause}`, { cause });
            }),
          ),
        );
      await withEach('begin');
      await inflict();
      await withEach('meet');
      await mend();
      await withEach('recover');
    },
  );
});
