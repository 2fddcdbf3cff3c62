import { createReceiver, type WebhookEvent } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import type { Note } from '../../support/notes.ts';
import { randomPause } from '../../support/random-pause.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { pause } from '../kit/process-storm.ts';
import { createClusterClient, ready } from './clients.ts';
import { type Answered, KEY, send } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import type { RedisServer } from './servers.ts';
import { type Worker, Workers } from './workers.ts';

const NODE_TIMEOUT_MS = 1_000;
/** The service's 1, 5 and 15 minutes, shortened. */
const RETRY_SCHEDULE_MS = [1_000, 2_500, 5_000];
const DEADLINE_MS = 4_000;
/** How long an answer may take on a busy machine; the service hangs up after 30 seconds. */
const ANSWER_LIMIT_MS = 15_000;
/** So many events at once, and no more on a busy machine. */
const MOST_UNANSWERED = 300;

describe('a Cluster that fails over under load', () => {
  const fixture = useRedis();

  test.each(['ioredis Cluster', 'node-redis Cluster'] as const)(
    'no event is lost, none hangs, and what was completed before is not handled again: %s',
    async (cluster) => {
      const nodes = await fixture.servers.cluster({ nodeTimeoutMs: NODE_TIMEOUT_MS });
      const directory = temporaryDirectory();
      const workers = new Workers({
        redisPort: nodes[0]?.port ?? 0,
        cluster,
        leaseMs: 3_000,
        commandTimeoutMs: 2_000,
        gated: false,
        deadLetters: directory,
        receiver: { retryScheduleMs: RETRY_SCHEDULE_MS, deadlineMs: DEADLINE_MS, maxRunMs: 2_000 },
      });
      onTestFinished(() => workers.stop());
      const running = await Promise.all([workers.start(), workers.start(), workers.start()]);
      const sender = new Sender(running);

      const sending = awaitedLater(sender.sendUntilStopped());
      await until('a hundred events are completed', () => sender.completed.length >= 100);
      const answered = sender.completed;
      // Redis acknowledges before it replicates, and a failover forgets what it has not.
      await allIsReplicated(nodes);
      const [killed, itsReplica] = pairOf(nodes);
      await killed.kill();
      const rest = nodes.filter((node) => node !== killed);
      await hasTakenOver(itsReplica, rest);

      const [frozen, replica] = pairOf(rest);
      frozen.signal('SIGSTOP');
      await hasTakenOver(
        replica,
        rest.filter((node) => node !== frozen),
      );
      // For a moment it takes itself for the master still.
      frozen.signal('SIGCONT');
      await until('the former master has become a replica', () => frozen.command('role').startsWith('slave'));
      sender.stop();
      await sending;

      // Their ids lie on all nodes.
      const pending = workers.notes().filter(({ rest }) => rest.includes('completion_pending'));
      const early = answered.filter(({ event }) => !pending.some(({ id }) => id === event.id));
      expect(early.length).toBeGreaterThan(0);
      for (const { url } of running) {
        const answers = await Promise.all(early.map(({ event }) => sendUntilTaken(url, event)));
        expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['duplicate']));
      }
      const letters = createFileDeadLetters(directory);
      const client = await ready(fixture.keep(createClusterClient(6, rest[0]?.port ?? 0)));
      const replayed: string[] = [];
      const receiver = createReceiver({
        signingKey: KEY,
        store: createRedisStore(client, { scope: 'workers' }),
        deadLetters: letters,
      })
        .on('*', ({ id }) => void replayed.push(id))
        .observe(() => {});
      await until('every letter is replayed', async () => {
        const statuses: number[] = [];
        for await (const letter of letters.list()) statuses.push((await receiver.replay(letter)).status);
        return statuses.every((status) => status === 200);
      });

      const handled = workers.notes().filter(({ what }) => what === 'handled');
      const handlingsOf = (id: string): Note[] => handled.filter((note) => note.id === id);
      const twice = sender.sent.filter(({ event }) => handlingsOf(event.id).length > 1);
      process.stdout.write(
        `failover test: ${JSON.stringify({ events: sender.sent.length, ...sender.counts, letters: replayed.length, handledTwice: twice.length })}\n`,
      );
      expect(sender.slowestMs).toBeLessThan(ANSWER_LIMIT_MS);
      for (const { event, outcome, answeredAt } of sender.sent) {
        const [first] = handlingsOf(event.id);
        if (outcome === 'parked') expect([first?.id, ...replayed]).toContain(event.id);
        else expect(Number(first?.rest), `${event.id} ${outcome}`).toBeLessThanOrEqual(answeredAt);
      }
      expect(twice.filter((sent) => early.includes(sent))).toEqual([]);
    },
  );
});

interface Sent {
  readonly event: WebhookEvent;
  /** Of the first 2xx; undefined if the service has given up. */
  outcome?: string | undefined;
  /** When the first 2xx came. */
  answeredAt: number;
}

/** Sends events as the service does, each with its retries, and some twice at once. */
class Sender {
  readonly sent: Sent[] = [];
  readonly counts = { deliveries: 0, refused: 0 };
  slowestMs = 0;
  readonly #workers: readonly Worker[];
  #isStopped = false;

  constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  /** What was answered as handled so far. */
  get completed(): readonly Sent[] {
    return this.sent.filter(({ outcome }) => outcome === 'processed' || outcome === 'duplicate');
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves once the last event has its 2xx, or was given up. */
  async sendUntilStopped(): Promise<void> {
    const lives = new Set<Promise<void>>();
    while (!this.#isStopped) {
      const life = this.#sendWithRetries();
      lives.add(life);
      // One that has failed stays, for the end.
      life.then(
        () => lives.delete(life),
        () => {},
      );
      await randomPause(30);
      await until('fewer events are unanswered', () => lives.size < MOST_UNANSWERED);
    }
    await Promise.all(lives);
  }

  async #sendWithRetries(): Promise<void> {
    const sent: Sent = { event: createEvent('transfer.created'), answeredAt: Number.NaN };
    this.sent.push(sent);
    for (const delayMs of [0, ...RETRY_SCHEDULE_MS]) {
      await pause(delayMs);
      const duplicates = Math.random() < 0.4 ? 2 : 1;
      await Promise.all(Array.from({ length: duplicates }, () => this.#deliver(sent)));
      if (sent.outcome !== undefined) return;
    }
  }

  async #deliver(sent: Sent): Promise<void> {
    const worker = this.#workers[Math.floor(Math.random() * this.#workers.length)];
    const { status, outcome, durationMs } = await send(worker?.url ?? '', sent.event);
    this.counts.deliveries += 1;
    this.slowestMs = Math.max(this.slowestMs, durationMs);
    if (status !== 200) this.counts.refused += 1;
    else if (sent.outcome === undefined) Object.assign(sent, { outcome, answeredAt: Date.now() });
  }
}

/** Sends an event until the store answers: clients may still be looking for its new masters. */
async function sendUntilTaken(url: string, event: WebhookEvent): Promise<Answered> {
  let answer = await send(url, event);
  await until('the store answers', async () => {
    if (answer.code === 'store_unavailable') answer = await send(url, event);
    return answer.code !== 'store_unavailable';
  });
  return answer;
}

/** Resolves once the replica of each master has all that the master has now. More is written meanwhile. */
async function allIsReplicated(nodes: readonly RedisServer[]): Promise<void> {
  const read = ({ command }: RedisServer) => {
    const info = command('info', 'replication');
    const numberAt = (pattern: RegExp): number => Number(pattern.exec(info)?.[1]);
    return {
      isMaster: info.includes('role:master'),
      written: numberAt(/^master_repl_offset:(\d+)/m),
      replicated: numberAt(/^slave0:.*,offset=(\d+),/m),
    };
  };
  const masters = nodes.map((node) => ({ node, ...read(node) })).filter(({ isMaster }) => isMaster);
  await until('all is replicated', () =>
    masters.every(({ node, written }) => read(node).replicated >= written),
  );
}

/** A master and its replica. */
function pairOf(nodes: readonly RedisServer[]): readonly [RedisServer, RedisServer] {
  for (const replica of nodes) {
    const [role, , port] = replica.command('role').split('\n');
    const master = nodes.find((node) => String(node.port) === port);
    if (role === 'slave' && master !== undefined) return [master, replica];
  }
  throw new Error('no replica has a master among these');
}

async function hasTakenOver(replica: RedisServer, nodes: readonly RedisServer[]): Promise<void> {
  await until('the replica has taken over', () => replica.command('role').startsWith('master'));
  await until('every node knows it', () =>
    nodes.every(({ command }) => command('cluster', 'info').includes('cluster_state:ok')),
  );
}
