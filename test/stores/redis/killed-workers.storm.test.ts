import type { ReceiverOptions } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Note } from '../../support/notes.ts';
import { pick } from '../../support/pick.ts';
import { until } from '../../support/until.ts';
import { send } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { Workers } from './workers.ts';

const WORKERS = 3;
const SENDERS = 12;
const LEAST_EVENTS = 150;
const LEAST_KILLS = 10;
/** Longer than a busy machine lets a process stand still: a lease that runs out is not the subject. */
const LEASE_MS = 5_000;

describe('a worker that was killed while it ran an event', () => {
  const fixture = useRedis();

  /** Two workers of which the first is killed with an event; the second has the options. */
  async function killWith(
    event: { readonly id: string },
    leaseMs: number,
    receiver: Partial<ReceiverOptions>,
  ) {
    const workers = new Workers({ redisPort: fixture.redis.port, leaseMs, gated: true, receiver });
    onTestFinished(() => workers.stop());
    const [killed, next] = await Promise.all([workers.start(), workers.start()]);
    const cut = send(killed.url, event).catch(() => undefined);
    await killed.line(new RegExp(` begun ${event.id}`));
    await workers.kill(killed);
    await cut;
    workers.openGate(next, event.id, 'succeed');
    return next;
  }

  test('is waited for until its lease ends, and the report of the retry says so, once', async () => {
    const event = createEvent('transfer.created');
    const next = await killWith(event, 10_000, {});
    expect(await send(next.url, event)).toMatchObject({ status: 200, outcome: 'processed' });
    expect(await send(next.url, event)).toMatchObject({ status: 200, outcome: 'duplicate' });
    await next.line(new RegExp(` reported ${event.id} duplicate`));
    const reports = next.lines.filter((line) => line.includes(` reported ${event.id} `));
    expect(reports).toHaveLength(2);
    expect(reports[0]).toMatch(
      / processed 2 false \[.*"lease_awaited: this run waited \d+ ms for the lease \(leaseMs\) of an earlier one, [^"]*killed[^"]*"\]/,
    );
    expect(reports[1]).toMatch(/ duplicate .*false \[\]/);
  });

  test('holds its claim past the deadline: the answer is busy, and the report says when the claim ends', async () => {
    const event = createEvent('transfer.created');
    const next = await killWith(event, 120_000, { deadlineMs: 2_000 });
    expect(await send(next.url, event)).toMatchObject({ status: 503, code: 'event_running' });
    const report = await next.line(new RegExp(` reported ${event.id} `));
    const [, ms] =
      / event_running "another process [^"]*; if it was killed, its claim ends in (\d+) ms"/.exec(report) ??
      [];
    expect(Number(ms)).toBeGreaterThan(60_000);
    expect(Number(ms)).toBeLessThan(120_000);
  });
});

describe('workers that are killed at random', () => {
  const fixture = useRedis();

  test('handle every event before they acknowledge it, and again only where a kill fell in between', async () => {
    const workers = new Workers({ redisPort: fixture.redis.port, leaseMs: LEASE_MS, gated: false });
    onTestFinished(() => workers.stop());
    const running = await Promise.all(Array.from({ length: WORKERS }, () => workers.start()));
    const killed = new Set<string>();
    const counts = { events: 0, deliveries: 0, acknowledged: 0, refused: 0, cut: 0 };
    const early: string[] = [];

    const deliver = async (event: { readonly id: string }): Promise<boolean> => {
      counts.deliveries += 1;
      const answer = await send(pick(running).url, event).catch(() => undefined);
      if (answer === undefined) counts.cut += 1;
      else if (answer.status !== 200) counts.refused += 1;
      else {
        counts.acknowledged += 1;
        if (handlingsOf(workers.notes(), event.id).length === 0) early.push(event.id);
      }
      return answer?.status === 200;
    };
    const isEnough = (): boolean => counts.events >= LEAST_EVENTS && killed.size >= LEAST_KILLS;
    const sendEvents = async (): Promise<void> => {
      while (!isEnough()) {
        const event = createEvent('transfer.created');
        counts.events += 1;
        await until('the event is acknowledged', async () => {
          const duplicates = Math.random() < 0.3 ? 2 : 1;
          const acknowledged = await Promise.all(Array.from({ length: duplicates }, () => deliver(event)));
          return acknowledged.includes(true);
        });
      }
    };
    const killWorkers = async (): Promise<void> => {
      for (let index = 0; !isEnough(); index = (index + 1) % WORKERS) {
        const events = counts.events + 3 + Math.random() * 10;
        // Before the kill, because far more events than are needed would come while a process starts.
        const [next] = await Promise.all([
          workers.start(),
          until('some events later', () => counts.events > events),
        ]);
        const victim = running[index];
        running[index] = next;
        if (victim === undefined) continue;
        await workers.kill(victim);
        killed.add(victim.pid);
      }
    };
    await Promise.all([killWorkers(), ...Array.from({ length: SENDERS }, sendEvents)]);

    const notes = workers.notes();
    const ids = new Set(notes.filter(({ what }) => what === 'handled').map(({ id }) => id));
    const repeated = [...ids].filter((id) => handlingsOf(notes, id).length > 1);
    process.stdout.write(
      `kill test: ${JSON.stringify({ ...counts, kills: killed.size, handledTwice: repeated.length })}\n`,
    );
    expect(early).toEqual([]);
    expect(ids.size).toBe(counts.events);
    for (const id of repeated) {
      const earlier = handlingsOf(notes, id).slice(0, -1);
      expect(earlier.filter(({ pid }) => !killed.has(pid) || isRecorded(notes, id, pid))).toEqual([]);
    }
  });
});

function handlingsOf(notes: readonly Note[], id: string): Note[] {
  return notes.filter((note) => note.what === 'handled' && note.id === id);
}

function isRecorded(notes: readonly Note[], id: string, pid: string): boolean {
  return notes.some(
    (note) =>
      note.what === 'reported' && note.id === id && note.pid === pid && note.rest.startsWith('processed'),
  );
}
