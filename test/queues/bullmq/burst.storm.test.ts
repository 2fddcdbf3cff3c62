import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, serve } from '../../stores/redis/deliveries.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { shutGate } from '../../support/gate.ts';
import { Seen } from '../../support/seen.ts';
import { book, openQueue } from './queue-fixture.ts';

const EVENTS = 200;

describe('a burst for slow handlers', () => {
  const fixture = useRedis();

  test('is acknowledged before a handler has ended, and handled once by two workers', async () => {
    const warnings = new Seen<Error>();
    process.on('warning', warnings.add);
    onTestFinished(() => void process.off('warning', warnings.add));
    const { bull, receiver, worker } = await openQueue(fixture);
    const begun = new Seen<string>();
    const ended = new Seen<{ id: string; by: number }>();
    const burst = shutGate();
    for (const by of [0, 1]) {
      const handle = book(async ({ id }) => {
        begun.add(id);
        await burst.pass();
        ended.add({ id, by });
      });
      worker(receiver(handle), { concurrency: 50 });
    }
    const deliver = await serve(receiver(book(), { signingKey: KEY }));
    const events = Array.from({ length: EVENTS }, () => createEvent('transfer.succeeded'));
    const answers = await Promise.all(events.map(deliver));
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    // Both workers have their hands full, and no more.
    await begun.nth(100);
    expect([ended.all.length, await bull.getActiveCount()]).toEqual([0, 100]);
    burst.open();
    await ended.nth(EVENTS);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(ended.all.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
    expect(new Set(ended.all.map(({ by }) => by)).size).toBe(2);
    // Of Node.js, for example that so many runs listen to one signal.
    expect(warnings.all.map(({ message }) => message)).toEqual([]);
  });
});
