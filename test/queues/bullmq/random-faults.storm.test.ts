import type { DeadLetters } from 'posthorn';
import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import type { RedisServer } from '../../stores/redis/servers.ts';
import type { Note } from '../../support/notes.ts';
import { randomPause } from '../../support/random-pause.ts';
import { until } from '../../support/until.ts';
import { runFastClock } from './fast-clock.ts';
import { openProcesses, type Started } from './processes.ts';
import { type DeliveryCounts, deliverOne } from './storm-deliveries.ts';

const SENDERS = 6;
const PAUSE_MS = 80;
const LEAST_EVENTS = 300;
const WORKER_KILLS = 3;
const RECEIVER_DEATHS = 3;
/** By a worker that is frozen. */
const LEAST_HELD = 8;

type Processes = Omit<Awaited<ReturnType<typeof openProcesses>>, 'deadLetters'>;

/** What the storm blows at. */
interface Site extends Processes {
  /** Those of the processes. */
  readonly deadLetters: DeadLetters;
  readonly redis: RedisServer;
  readonly receivers: Started[];
  readonly workers: Started[];
  /** The ids of processes that were killed, or died. */
  readonly killed: Set<string>;
  /** The events that each worker had in hand while Redis was away. */
  readonly cutOff: Map<string, readonly string[]>;
  readonly counts: DeliveryCounts & { stalledTwice: number; abandoned: number };
}

describe('receivers and workers in a storm', () => {
  const fixture = useRedis();

  test('lose nothing that was acknowledged, and handle again only if a kill or an outage came before the record', async () => {
    const redis = await fixture.servers.single({ appendonly: 'yes', appendfsync: 'always' });
    const processes = await openProcesses(fixture, { redis, leaseMs: 3_000, isGated: false });
    const { bull, notes, receiver, scope, start } = processes;
    const [receivers, workers] = await Promise.all([
      Promise.all([start('receiver')]),
      Promise.all([start('worker'), start('worker'), start('worker')]),
    ]);
    await runFastClock(processes, fixture, redis);
    const counts = {
      events: 0,
      deliveries: 0,
      acknowledged: 0,
      refused: 0,
      cut: 0,
      stalledTwice: 0,
      abandoned: 0,
    };
    const deadLetters = createRedisDeadLetters(await fixture.connect(redis), { scope });
    const servers = { deadLetters, redis, receivers, workers };
    const site: Site = { ...processes, ...servers, killed: new Set(), cutOff: new Map(), counts };

    let isOver = false;
    const storm = async (): Promise<void> => {
      const deaths = killReceivers(site);
      await killWorkers(site);
      await addStranger(site);
      await freezeWorkers(site);
      await restartRedis(site);
      await deaths;
      await until('there are events enough', () => counts.events >= LEAST_EVENTS);
    };
    const stormed = storm().finally(() => (isOver = true));
    const senders = Array.from({ length: SENDERS }, async () => {
      while (!isOver) {
        await deliverOne(site, 0.3);
        await randomPause(PAUSE_MS);
      }
    });
    await Promise.all([stormed, ...senders]);
    // It makes letters of failed jobs when it starts, if the one that failed them was killed before it could.
    await start('worker');
    await until(
      'the queue is empty',
      async () => (await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0,
    );

    // What died in too many workers waits as a letter.
    const replayed: string[] = [];
    const replaying = receiver((fresh) => fresh.on('*', ({ id }) => replayed.push(id), { name: 'work' }), {
      deadLetters,
    });
    for await (const letter of deadLetters.list())
      expect(await replaying.replay(letter)).toMatchObject({ status: 200 });

    const all = notes();
    const handled = all.filter(({ what }) => what === 'handled');
    const timesOf = (id: string): Note[] => handled.filter((note) => note.id === id);
    const ids = new Set(handled.map(({ id }) => id));
    const repeated = [...ids].filter((id) => timesOf(id).length > 1 || replayed.includes(id));
    const counted = { ...counts, killed: site.killed.size, replayed: replayed.length };
    process.stdout.write(`queue storm: ${JSON.stringify({ ...counted, handledTwice: repeated.length })}\n`);
    expect(counts.cut).toBeGreaterThanOrEqual(RECEIVER_DEATHS);
    expect(new Set([...ids, ...replayed]).size).toBe(counts.events);
    for (const id of repeated) {
      const earlier = replayed.includes(id) ? timesOf(id) : timesOf(id).slice(0, -1);
      const unexplained = earlier.filter(
        ({ pid }) =>
          !site.cutOff.get(pid)?.includes(id) && (!site.killed.has(pid) || isReported(all, id, pid)),
      );
      expect(unexplained).toEqual([]);
    }
  });
});

/** Adds receivers that die between the queue's answer and the sender's, one after the other. */
async function killReceivers({ killed, receivers, start }: Site): Promise<void> {
  for (let deaths = 0; deaths < RECEIVER_DEATHS; deaths += 1) {
    const dying = await start('receiver', { diesAt: 5 + Math.floor(Math.random() * 20) });
    receivers[1] = dying;
    await dying.exit;
    killed.add(dying.pid);
  }
  receivers.length = 1;
}

/** Kills workers in the middle of handlers. */
async function killWorkers({ killed, notes, start, workers }: Site): Promise<void> {
  for (const [index, victim] of workers.slice(0, WORKER_KILLS).entries()) {
    await until('it runs something', () => heldBy(notes(), victim).length > 0);
    victim.kill('SIGKILL');
    await victim.exit;
    killed.add(victim.pid);
    workers[index] = await start('worker');
  }
}

/** A worker of another deploy, without the handler, fails jobs for a while. */
async function addStranger({ notes, start }: Site): Promise<void> {
  const stranger = await start('stranger');
  const isMissing = ({ pid, rest }: Note): boolean =>
    pid === stranger.pid && rest.includes('handler_missing');
  await until('it has failed jobs', () => notes().filter(isMissing).length >= 5);
  stranger.kill('SIGTERM');
  expect(await stranger.exit).toBe(0);
}

/**
 * Freezes two of three workers in the middle of handlers, the second one when it has got jobs of the first,
 * and wakes them when others have handled what they had.
 */
async function freezeWorkers(site: Site): Promise<void> {
  const { counts, hold, notes, release, workers } = site;
  const [first, second] = workers;
  if (first === undefined || second === undefined) throw new Error('no workers');
  const firsts = await freeze(site, first);
  hold(second, firsts);
  await until('the second one has some of them, or the third one had them all', async () => {
    const held = heldBy(notes(), second);
    return firsts.some((id) => held.includes(id)) || (await unhandledOf(site, firsts)).length === 0;
  });
  const seconds = await freeze(site, second);
  counts.stalledTwice += seconds.filter((id) => firsts.includes(id)).length;
  // An event that a killed worker had before them has outlived three workers: it waits as a letter.
  const all = [...firsts, ...seconds];
  await until('others have handled what they had', async () => (await unhandledOf(site, all)).length === 0);
  const abandoned = new Set(await abandonedOf(site, all));
  counts.abandoned += abandoned.size;
  for (const woken of [first, second]) {
    // Where nobody has taken a claim since, the handler goes on.
    const held = heldBy(notes(), woken).filter((id) => !abandoned.has(id));
    woken.kill('SIGCONT');
    await until('its handlers are aborted', () => {
      const aborted = notes().filter(({ pid, what }) => pid === woken.pid && what === 'aborted');
      return held.every((id) => aborted.some((note) => note.id === id));
    });
    release(woken);
  }
}

/** Freezes a worker that has recorded what it has handled; resolves with what it is handling. */
async function freeze(site: Site, worker: Started): Promise<string[]> {
  const { hold, notes } = site;
  hold(worker);
  let looks = 0;
  // More than one look: an effect may come between the look of the handler and this one.
  await until('it holds handlers, and has recorded those that ended', async () => {
    const held = heldBy(notes(), worker);
    // What runs beside suspects is a suspect itself, so they are fewer.
    const isHeld = held.length >= LEAST_HELD || (await isAnySuspect(site, held));
    looks = isHeld && unrecordedBy(notes(), worker).length === 0 ? looks + 1 : 0;
    return looks === 3;
  });
  worker.kill('SIGSTOP');
  return heldBy(notes(), worker);
}

async function isAnySuspect({ bull }: Site, ids: readonly string[]): Promise<boolean> {
  const jobs = await Promise.all(ids.map((id) => bull.getJob(`event-${id}`)));
  return jobs.some((job) => (job?.stalledCounter ?? 0) > 0);
}

/** A lease can end before Redis is back, and then another worker may be quicker than the record. */
async function restartRedis({ counts, cutOff, notes, redis, workers }: Site): Promise<void> {
  await redis.kill();
  const { refused } = counts;
  await until('a delivery is refused', () => counts.refused > refused);
  for (const { pid } of workers) cutOff.set(pid, openOf(notes(), pid, 'begun', ['reported']));
  await redis.restart();
}

/** The events whose handlers a process has begun, and not ended. */
function heldBy(notes: readonly Note[], { pid }: Started): string[] {
  return openOf(notes, pid, 'begun', ['handled', 'reported']);
}

/** The events that a process has handled, and not recorded. */
function unrecordedBy(notes: readonly Note[], { pid }: Started): string[] {
  return openOf(notes, pid, 'handled', ['reported']);
}

/** The events of a process that have begun with one note, and not ended with another. */
function openOf(
  notes: readonly Note[],
  pid: string,
  beginning: string,
  endings: readonly string[],
): string[] {
  const open = new Set<string>();
  for (const note of notes) {
    if (note.pid !== pid) continue;
    if (note.what === beginning) open.add(note.id);
    if (endings.includes(note.what)) open.delete(note.id);
  }
  return [...open];
}

/** The events that no living process has handled, and that do not wait as letters. */
async function unhandledOf(site: Site, ids: readonly string[]): Promise<string[]> {
  const handled = site
    .notes()
    .filter(({ pid, what }) => what === 'handled' && !site.killed.has(pid))
    .map(({ id }) => id);
  const abandoned = await abandonedOf(site, ids);
  return ids.filter((id) => !handled.includes(id) && !abandoned.includes(id));
}

async function abandonedOf({ deadLetters }: Site, ids: readonly string[]): Promise<string[]> {
  const letters = await Promise.all(ids.map((id) => deadLetters.get(id)));
  return letters.flatMap((letter) => (letter?.reason === 'run_abandoned' ? [letter.id] : []));
}

function isReported(notes: readonly Note[], id: string, pid: string): boolean {
  return notes.some(
    (note) =>
      note.what === 'reported' && note.id === id && note.pid === pid && note.rest.startsWith('processed'),
  );
}
