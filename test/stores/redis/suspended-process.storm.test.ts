import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answered, send } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { type Worker, Workers } from './workers.ts';

type End = 'succeed' | 'fail';

/**
 * Two processes have the event: one that was stopped until its lease had run out, and the one that took over.
 */
interface Contest {
  readonly id: string;
  readonly ofStopped: Promise<Answered>;
  readonly ofOther: Promise<Answered>;
  /** Lets the stopped one go on; resolves once its handler's signal has aborted for the reason. */
  readonly resume: (reason: 'lease_lost' | 'completed_elsewhere') => Promise<void>;
  readonly end: (worker: Worker, end: End) => void;
}

describe('a process that was stopped past its lease', () => {
  const fixture = useRedis();
  let workers: Workers;
  let stopped: Worker;
  let other: Worker;
  beforeAll(async () => {
    workers = new Workers({ redisPort: fixture.redis.port, leaseMs: 2_000, gated: true });
    [stopped, other] = await Promise.all([workers.start(), workers.start()]);
  });
  afterAll(() => workers.stop());

  async function contest(): Promise<Contest> {
    const event = createEvent('transfer.created');
    const { id } = event;
    const ofStopped = send(stopped.url, event);
    await stopped.line(new RegExp(` begun ${id}`));
    stopped.kill('SIGSTOP');
    // A test that fails must not leave it stopped for the next one.
    onTestFinished(() => stopped.kill('SIGCONT'));
    const ofOther = send(other.url, event);
    await other.line(new RegExp(` begun ${id}`));
    return {
      id,
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

  /** A wrong answer is shown with its code, and with all that both processes have noted of the event. */
  async function expectAnswer(
    { id }: Contest,
    answer: Promise<Answered>,
    expected: Partial<Answered>,
  ): Promise<void> {
    const answered = await answer;
    const noted = [...stopped.lines, ...other.lines].filter((line) => line.includes(id));
    expect(answered, [JSON.stringify(answered), ...noted].join('\n')).toMatchObject(expected);
  }

  function nextAnswer({ id }: Contest): Promise<Answered> {
    workers.openGate(other, id, 'succeed');
    return send(other.url, { ...createEvent('transfer.created'), id });
  }

  test.each<End>(['succeed', 'fail'])('the other completes, then it would %s: duplicate', async (end) => {
    const all = await contest();
    all.end(other, 'succeed');
    await expectAnswer(all, all.ofOther, { status: 200, outcome: 'processed' });
    await all.resume('completed_elsewhere');
    all.end(stopped, end);
    await expectAnswer(all, all.ofStopped, { status: 200, outcome: 'duplicate' });
    expect(await saysLeaseLost(stopped, all.id)).toBe(true);
    await expectAnswer(all, nextAnswer(all), { status: 200, outcome: 'duplicate' });
  });

  test.each<End>(['succeed', 'fail'])(
    'it completes first, then the other would %s: duplicate',
    async (end) => {
      const all = await contest();
      await all.resume('lease_lost');
      all.end(stopped, 'succeed');
      await expectAnswer(all, all.ofStopped, { status: 200, outcome: 'processed' });
      expect(await saysLeaseLost(stopped, all.id)).toBe(true);
      await other.line(new RegExp(` aborted ${all.id} completed_elsewhere$`));
      all.end(other, end);
      await expectAnswer(all, all.ofOther, { status: 200, outcome: 'duplicate' });
      await expectAnswer(all, nextAnswer(all), { status: 200, outcome: 'duplicate' });
    },
  );

  test('it fails first, then the other completes', async () => {
    const all = await contest();
    await all.resume('lease_lost');
    all.end(stopped, 'fail');
    await expectAnswer(all, all.ofStopped, { status: 500, code: 'handler_failed' });
    expect(await saysLeaseLost(stopped, all.id)).toBe(true);
    all.end(other, 'succeed');
    await expectAnswer(all, all.ofOther, { status: 200, outcome: 'processed' });
    expect(await saysLeaseLost(other, all.id)).toBe(false);
    await expectAnswer(all, nextAnswer(all), { status: 200, outcome: 'duplicate' });
  });

  test('the other fails first, then it completes', async () => {
    const all = await contest();
    all.end(other, 'fail');
    await expectAnswer(all, all.ofOther, { status: 500, code: 'handler_failed' });
    await all.resume('lease_lost');
    all.end(stopped, 'succeed');
    await expectAnswer(all, all.ofStopped, { status: 200, outcome: 'processed' });
    expect(await saysLeaseLost(stopped, all.id)).toBe(true);
    await expectAnswer(all, nextAnswer(all), { status: 200, outcome: 'duplicate' });
  });

  test('both fail: the next delivery has the event', async () => {
    const all = await contest();
    all.end(other, 'fail');
    await expectAnswer(all, all.ofOther, { status: 500, code: 'handler_failed' });
    await all.resume('lease_lost');
    all.end(stopped, 'fail');
    await expectAnswer(all, all.ofStopped, { status: 500, code: 'handler_failed' });
    await expectAnswer(all, nextAnswer(all), { status: 200, outcome: 'processed' });
  });
});
