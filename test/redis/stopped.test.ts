import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answered, send } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { isRedisInstalled } from './installed.ts';
import { type Worker, Workers } from './workers.ts';

type End = 'succeed' | 'fail';

/**
 * Two processes have the event: one that was stopped until its lease had run out, and the one that took over.
 */
interface Contest {
  readonly id: string;
  readonly stopped: Worker;
  readonly other: Worker;
  readonly ofStopped: Promise<Answered>;
  readonly ofOther: Promise<Answered>;
  /** Lets the stopped one go on; resolves once its handler's signal has aborted for the reason. */
  readonly resume: (reason: 'lease_lost' | 'completed_elsewhere') => Promise<void>;
  readonly end: (worker: Worker, end: End) => void;
}

describe.skipIf(!isRedisInstalled())('a process that was stopped past its lease', () => {
  const fixture = useRedis();
  let workers: Workers;
  beforeAll(() => {
    workers = new Workers({ redisPort: fixture.redis.port, leaseMs: 900, gated: true });
  });
  afterAll(() => workers.stop());

  async function contest(): Promise<Contest> {
    const [stopped, other] = await Promise.all([workers.start(), workers.start()]);
    const event = createEvent('transfer.created');
    const { id } = event;
    const ofStopped = send(stopped.url, event);
    await stopped.line(new RegExp(` begun ${id}`));
    stopped.kill('SIGSTOP');
    const ofOther = send(other.url, event);
    await other.line(new RegExp(` begun ${id}`));
    return {
      id,
      stopped,
      other,
      ofStopped,
      ofOther,
      resume: async (reason) => {
        stopped.kill('SIGCONT');
        await stopped.line(new RegExp(` aborted ${id} ${reason}$`));
      },
      end: (worker, end) => workers.openGate(worker, id, end),
    };
  }

  /** Whether the report of that worker says that the lease was lost. */
  async function saysLeaseLost(worker: Worker, id: string): Promise<boolean> {
    return (await worker.line(new RegExp(` reported ${id} `))).includes('"lease_lost: ');
  }

  async function nextAnswer({ id, other }: Contest): Promise<Answered> {
    workers.openGate(other, id, 'succeed');
    return send(other.url, { ...createEvent('transfer.created'), id });
  }

  test.each<End>(['succeed', 'fail'])('the other completes, then it would %s: duplicate', async (end) => {
    const all = await contest();
    all.end(all.other, 'succeed');
    expect(await all.ofOther).toMatchObject({ status: 200, outcome: 'processed' });
    await all.resume('completed_elsewhere');
    all.end(all.stopped, end);
    expect(await all.ofStopped).toMatchObject({ status: 200, outcome: 'duplicate' });
    expect(await saysLeaseLost(all.stopped, all.id)).toBe(true);
    expect((await nextAnswer(all)).outcome).toBe('duplicate');
  });

  test.each<End>(['succeed', 'fail'])(
    'it completes first, then the other would %s: duplicate',
    async (end) => {
      const all = await contest();
      await all.resume('lease_lost');
      all.end(all.stopped, 'succeed');
      expect(await all.ofStopped).toMatchObject({ status: 200, outcome: 'processed' });
      expect(await saysLeaseLost(all.stopped, all.id)).toBe(true);
      await all.other.line(new RegExp(` aborted ${all.id} completed_elsewhere$`));
      all.end(all.other, end);
      expect(await all.ofOther).toMatchObject({ status: 200, outcome: 'duplicate' });
      expect((await nextAnswer(all)).outcome).toBe('duplicate');
    },
  );

  test('it fails first, then the other completes', async () => {
    const all = await contest();
    await all.resume('lease_lost');
    all.end(all.stopped, 'fail');
    expect(await all.ofStopped).toMatchObject({ status: 500, code: 'handler_failed' });
    expect(await saysLeaseLost(all.stopped, all.id)).toBe(true);
    all.end(all.other, 'succeed');
    expect(await all.ofOther).toMatchObject({ status: 200, outcome: 'processed' });
    expect(await saysLeaseLost(all.other, all.id)).toBe(false);
    expect((await nextAnswer(all)).outcome).toBe('duplicate');
  });

  test('the other fails first, then it completes', async () => {
    const all = await contest();
    all.end(all.other, 'fail');
    expect(await all.ofOther).toMatchObject({ status: 500, code: 'handler_failed' });
    await all.resume('lease_lost');
    all.end(all.stopped, 'succeed');
    expect(await all.ofStopped).toMatchObject({ status: 200, outcome: 'processed' });
    expect(await saysLeaseLost(all.stopped, all.id)).toBe(true);
    expect((await nextAnswer(all)).outcome).toBe('duplicate');
  });

  test('both fail: the next delivery has the event', async () => {
    const all = await contest();
    all.end(all.other, 'fail');
    expect((await all.ofOther).status).toBe(500);
    await all.resume('lease_lost');
    all.end(all.stopped, 'fail');
    expect((await all.ofStopped).status).toBe(500);
    expect((await nextAnswer(all)).outcome).toBe('processed');
  });
});
