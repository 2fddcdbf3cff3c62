import type { DeadLetter } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { randomPause } from '../../support/random-pause.ts';
import { until } from '../../support/until.ts';
import { failJobs, noBooking, waitingLetters } from './failed-jobs.ts';
import { book, openQueue } from './queue-fixture.ts';

const JOBS = 200;
const WORKERS = 3;
const PAUSE_MS = 40;

describe('failed jobs', () => {
  const fixture = useRedis();

  test('of which three workers make slow letters, and which are replayed at once, are handled once, and no letter comes back', async () => {
    const opened = await openQueue(fixture);
    const { bull, letters, receiver, worker } = opened;
    const ids = await failJobs(opened, JOBS);
    const slow = waitingLetters(letters, () => randomPause(PAUSE_MS));
    const handled: string[] = [];
    const replaying = receiver(
      book(({ id }) => handled.push(id)),
      { deadLetters: createMapDeadLetters(letters) },
    );
    const workers = Array.from({ length: WORKERS }, () => worker(receiver(noBooking, { deadLetters: slow })));
    const outcomes: string[] = [];
    const replay = async (letter: DeadLetter) => outcomes.push((await replaying.replay(letter)).outcome);
    await until(
      () => `all are handled: ${handled.length} are`,
      async () => {
        for (const letter of letters.values()) await replay(letter);
        return handled.length >= JOBS && (await bull.getFailedCount()) === 0;
      },
    );
    for (const ended of workers) await ended.close();
    const back = [...letters.keys()];
    process.stdout.write(`failed jobs: ${JSON.stringify({ replays: outcomes.length, back: back.length })}\n`);
    expect(back).toEqual([]);
    expect(handled.toSorted()).toEqual(ids.toSorted());
  });
});
