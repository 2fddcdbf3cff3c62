import { describe, expect, test } from 'vitest';
import { type JobNotes, readNotes } from '../../../src/queues/bullmq/job-notes.ts';
import { suspicionOf } from '../../../src/queues/bullmq/suspicion.ts';

const CONCURRENCY = 50;

function suspicionAt(stalledCounter: number, notes: JobNotes) {
  return suspicionOf({ stalledCounter }, notes, CONCURRENCY);
}

/** What a worker notes when the job begins in a group of as many as it may, or alone. */
function beginAt(stalledCounter: number, notes: JobNotes, group?: number): JobNotes {
  const suspicion = suspicionAt(stalledCounter, notes);
  return suspicion === undefined
    ? notes
    : { ...notes, suspicion: { ...suspicion, group: group ?? suspicion.limit } };
}

describe('a job whose workers have died', () => {
  test('is ordinary while none has', () => {
    expect(suspicionAt(0, {})).toBeUndefined();
  });

  test('runs in groups that halve, and is blamed only for deaths while it ran alone', () => {
    const limits: unknown[] = [];
    let notes: JobNotes = {};
    for (let stalls = 1; stalls <= 8; stalls += 1) {
      const { limit, aloneDeaths } = suspicionAt(stalls, notes) ?? {};
      limits.push([limit, aloneDeaths]);
      notes = beginAt(stalls, notes);
    }
    expect(limits).toEqual([
      [25, 0],
      [12, 0],
      [6, 0],
      [3, 0],
      [1, 0],
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
  });

  test('which ran in a smaller group than it might, runs in half of that one', () => {
    expect(suspicionAt(2, beginAt(1, {}, 7))).toMatchObject({ limit: 3, aloneDeaths: 0 });
    expect(suspicionAt(2, beginAt(1, {}, 1))).toMatchObject({ limit: 1, aloneDeaths: 1 });
  });

  test('is not blamed for deaths while it waited, nor for those of workers that note nothing', () => {
    const waiting = { suspicion: suspicionAt(2, beginAt(1, {}, 1)) };
    expect(waiting.suspicion).toMatchObject({ limit: 1, aloneDeaths: 1 });
    for (const stalls of [3, 4, 9]) expect(suspicionAt(stalls, waiting)).toMatchObject({ aloneDeaths: 1 });
    // It died once while it ran, and then twice while it waited in workers that wrote nothing.
    expect(suspicionAt(4, beginAt(1, {}, 1))).toMatchObject({ limit: 1, aloneDeaths: 1 });
  });

  test('is as suspicious as before if a run ended without a note, and no worker died', () => {
    expect(suspicionAt(1, beginAt(1, {}, 1))).toEqual({ stalls: 1, limit: 25, aloneDeaths: 0 });
  });

  test('is ordinary again once it was forgiven, until the next death', () => {
    expect(suspicionAt(3, { forgivenStalls: 3 })).toBeUndefined();
    expect(suspicionAt(4, { forgivenStalls: 3 })).toEqual({ stalls: 4, limit: 25, aloneDeaths: 0 });
  });

  test.each([1, 2, 3])('may run alone at least, in a worker with a concurrency of %i', (concurrency) => {
    expect(suspicionOf({ stalledCounter: 1 }, {}, concurrency)).toMatchObject({ limit: 1, aloneDeaths: 0 });
  });
});

describe('the notes of a job', () => {
  test.each([0, 42, 'half', true, null, [], {}, { suspicion: 'yes' }, { suspicion: { limit: 0 } }])(
    'are none in a progress of %j',
    (progress) => {
      expect(suspicionAt(1, readNotes(JSON.parse(JSON.stringify({ progress }))))).toMatchObject({
        limit: 25,
      });
    },
  );

  test('are read apart: one that is not readable costs no other', () => {
    const progress = { handlerMissingSince: 17, forgivenStalls: -1, suspicion: { limit: Number.NaN } };
    expect(readNotes({ progress })).toEqual({ handlerMissingSince: 17 });
  });
});
