import { createMemoryStore } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { Seen } from '../../support/seen.ts';
import { book, EARLIER_STALL_LIMIT, enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

describe.each(queueServers)('a job in $name whose worker has died', ({ useServer }) => {
  const server = useServer();

  async function open() {
    const opened = await openQueueAt(server);
    const { bull, openFrozenWorker, stallActive } = opened;
    const accepting = opened.receiver(book(() => {}));
    const add = async (): Promise<string> => {
      const event = await enqueue(accepting);
      return event.id;
    };
    /** Has a worker that notes nothing, as one of an earlier release, take all jobs that wait. */
    const takeElsewhere = async () => {
      const waiting = await bull.getWaiting();
      const ids = waiting.flatMap(({ id }) => id ?? []);
      const other = openFrozenWorker(100);
      await expect.poll(() => bull.getActiveCount()).toBeGreaterThanOrEqual(ids.length);
      await other.close(true);
      /** The queue finds out that it has died. */
      const die = (maxStalledCount?: number) => stallActive({ ids, maxStalledCount });
      return { die };
    };
    const addSuspects = async (count: number): Promise<string[]> => {
      const ids: string[] = [];
      while (ids.length < count) ids.push(await add());
      await (await takeElsewhere()).die();
      return ids;
    };
    const isEmpty = (): Promise<number> => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed');
    return { ...opened, add, addSuspects, isEmpty, takeElsewhere };
  }

  /** Handlers that last until the test ends them, and the events that they have. */
  function hold() {
    const held = new HeldHandler();
    const begun = new Seen<string>();
    const register = book((event, context) => {
      begun.add(event.id);
      return held.handle(event, context);
    });
    return { begun, calls: held.calls, register };
  }

  test('runs in groups of half the concurrency, and nothing else beside it', async () => {
    const { add, addSuspects, isEmpty, receiver, worker } = await open();
    const suspects = await addSuspects(8);
    const ordinary = [await add(), await add()];
    const gate = shutGate();
    const begun = new Seen<string>();
    const register = book(({ id }) => {
      begun.add(id);
      return gate.pass();
    });
    worker(receiver(register), { concurrency: 10 });
    await begun.nth(1);
    // Other workers have what this one does not run beside them.
    const elsewhere = new Seen<string>();
    worker(receiver(book(({ id }) => elsewhere.add(id))), { concurrency: 10 });
    await elsewhere.nth(2);
    // On a busy machine a group may begin with fewer.
    expect(begun.all.length).toBeLessThanOrEqual(5);
    expect(begun.all.filter((id) => ordinary.includes(id))).toEqual([]);
    gate.open();
    await expect.poll(isEmpty).toBe(0);
    expect([...begun.all, ...elsewhere.all].sort()).toEqual([...suspects, ...ordinary].sort());
  });

  test('waits for the ordinary jobs that run; those that come meanwhile follow it', async () => {
    const { add, bull, isEmpty, receiver, takeElsewhere, worker } = await open();
    const { begun, calls, register } = hold();
    const suspect = await add();
    const elsewhere = await takeElsewhere();
    const first = await add();
    const running = worker(receiver(register), { concurrency: 10 });
    await calls.nth(1);
    await elsewhere.die();
    const suspicion = { stalls: 1, limit: 5, aloneDeaths: 0 };
    await expect.poll(() => bull.getJob(`event-${suspect}`)).toMatchObject({ progress: { suspicion } });
    const last = await add();
    await expect.poll(async () => (await bull.getJob(`event-${last}`))?.attemptsStarted).toBe(1);
    await expect.poll(() => bull.getWaitingCount()).toBe(1);
    for (const count of [1, 2, 3]) (await calls.nth(count)).succeed();
    await expect.poll(isEmpty).toBe(0);
    expect(begun.all).toEqual([first, suspect, last]);
    expect(await running.close()).toEqual({ abandoned: [] });
  });

  test('goes back uncounted if the worker closes while it waits', async () => {
    const { add, bull, receiver, takeElsewhere, worker } = await open();
    const { begun, calls, register } = hold();
    const suspect = await add();
    const elsewhere = await takeElsewhere();
    const first = await add();
    const closing = worker(receiver(register), { concurrency: 10 });
    const ordinary = await calls.nth(1);
    await elsewhere.die();
    await expect.poll(() => bull.getJob(`event-${suspect}`)).toMatchObject({ progress: { suspicion: {} } });
    const closed = closing.close();
    await expect.poll(() => bull.getWaiting()).toMatchObject([{ id: `event-${suspect}`, attemptsMade: 0 }]);
    ordinary.succeed();
    expect(await closed).toEqual({ abandoned: [] });
    expect(begun.all).toEqual([first]);
  });

  test('is ordinary again when it has run to an end, though its handler threw', async () => {
    const { addSuspects, bull, isEmpty, promote, receiver, worker } = await open();
    const { calls, register } = hold();
    await addSuspects(6);
    worker(receiver(register), { concurrency: 6 });
    for (let count = 1; count <= 6; count += 1) (await calls.nth(count)).fail(new Error('locked'));
    await expect.poll(() => bull.getDelayedCount()).toBe(6);
    await promote();
    // All of them at once, each for the second time.
    for (let count = 7; count <= 12; count += 1) {
      expect(await calls.nth(count)).toMatchObject({ context: { attempt: 2 } });
    }
    for (const { succeed } of calls.all) succeed();
    await expect.poll(isEmpty).toBe(0);
  });

  test('is not failed by the count of an earlier release once a worker of this one has seen it', async () => {
    const { bull, add, isEmpty, letters, promote, receiver, takeElsewhere, worker } = await open();
    const id = await add();
    await (await takeElsewhere()).die();
    const { calls, register } = hold();
    // A store of its own: the lease does not keep the next worker from the event.
    const seeing = worker(receiver(register, { store: createMemoryStore() }), { concurrency: 10 });
    await calls.nth(1);
    await seeing.close({ graceMs: 0 });
    await promote();
    for (let deaths = 0; deaths < 2; deaths += 1) {
      const elsewhere = await takeElsewhere();
      await elsewhere.die(EARLIER_STALL_LIMIT);
    }
    expect(await bull.getJob(`event-${id}`)).toMatchObject({
      stalledCounter: 3,
      deferredFailure: expect.any(String),
    });
    const runs = new Seen<string>();
    const failOnce = book((event) => {
      runs.add(event.id);
      if (runs.all.length === 1) throw new Error('locked');
    });
    worker(receiver(failOnce, { store: createMemoryStore() }));
    expect(await runs.nth(1)).toBe(id);
    // Its handler has failed as any other does: it has its other attempts.
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    await promote();
    expect(await runs.nth(2)).toBe(id);
    await expect.poll(isEmpty).toBe(0);
    expect(letters.size).toBe(0);
  });

  test('and which was given up runs once more if somebody has it tried again', async () => {
    const { add, bull, receiver, stallActive, worker } = await open();
    const { calls, register } = hold();
    await add();
    const start = (): void => {
      const options = { store: createMemoryStore(), deadLetters: undefined };
      worker(receiver(register, options), { concurrency: 1 });
    };
    for (let deaths = 1; deaths <= 3; deaths += 1) {
      start();
      await calls.nth(deaths);
      await stallActive();
    }
    start();
    await expect.poll(() => bull.getFailedCount()).toBe(1);
    const [job] = await bull.getFailed();
    expect(job?.failedReason).toMatch(/^run_abandoned: /);
    await job?.retry();
    (await calls.nth(4)).succeed();
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    expect(calls.all).toHaveLength(4);
  });

  test('does not run again the handlers that had finished, and its letter names them', async () => {
    const { add, letters, bull, receiver, stallActive, worker } = await open();
    const { calls, register } = hold();
    const finished = new Seen<string>();
    const id = await add();
    const start = (): void => {
      const running = receiver(register, { store: createMemoryStore() });
      running.on('transfer.*', () => finished.add('mail'), { name: 'mail', queue: true });
      worker(running, { concurrency: 1 });
    };
    for (let deaths = 1; deaths <= 3; deaths += 1) {
      start();
      await calls.nth(deaths);
      await expect.poll(() => bull.getJob(`event-${id}`)).toMatchObject({ progress: { handled: ['mail'] } });
      await stallActive();
    }
    start();
    await expect.poll(() => letters.get(id)).toMatchObject({ reason: 'run_abandoned', handled: ['mail'] });
    expect(finished.all).toEqual(['mail']);
    expect(calls.all).toHaveLength(3);
  });
});
