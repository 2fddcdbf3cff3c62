import assert from 'node:assert/strict';
import type { ClaimedResult } from '../../receiver/dedupe/store.ts';
import { type Requirements, SHORT_MS } from './subject.ts';

/** The requirements of a store that tells holds from runs. */
export const holds: Requirements = {
  'a hold is not an attempt: its number is that of the next run': async (subject) => {
    const first = await subject.claimed('hold:a');
    await subject.release('hold:a');
    const run = await subject.claimed('b');
    await subject.release('b', ['book']);
    const next = await subject.claimed('hold:c');
    await subject.claimed('hold:c');
    await subject.release('hold:c');
    const last = await subject.claimed('d');
    assert.deepEqual([first, run, next, last].map(countsOf), [
      { attempt: 1, abandoned: 0, handled: [] },
      { attempt: 1, abandoned: 0, handled: [] },
      { attempt: 2, abandoned: 0, handled: ['book'] },
      { attempt: 2, abandoned: 0, handled: ['book'] },
    ]);
    assert.equal(last.spacedAttempts ?? 2, 2);
  },
  'a hold whose lease ran out is not abandoned, and a run before it is': async (subject) => {
    await subject.claimed('a', { leaseMs: SHORT_MS });
    const hold = await subject.takeOver('hold:b', { leaseMs: SHORT_MS });
    const run = await subject.takeOver('c');
    assert.deepEqual([hold, run].map(countsOf), [
      { attempt: 2, abandoned: 1, handled: [] },
      { attempt: 2, abandoned: 1, handled: [] },
    ]);
  },
  'a renewal of a hold that is gone creates a hold': async (subject) => {
    assert.equal(await subject.renew('hold:a'), 'held');
    await subject.release('hold:a');
    assert.deepEqual(countsOf(await subject.claimed('b')), { attempt: 1, abandoned: 0, handled: [] });
  },
};

function countsOf({ attempt, abandoned, handled }: ClaimedResult): object {
  return { attempt, abandoned, handled: [...handled] };
}
