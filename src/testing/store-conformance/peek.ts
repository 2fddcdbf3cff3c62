import assert from 'node:assert/strict';
import { LONG_MS, type Requirements, SHORT_MS, untilOver } from './subject.ts';

/** The requirements of a store that has `peek`. */
export const peeks: Requirements = {
  'peek tells whether an id is running or completed': async (subject) => {
    const seen = [await subject.peek()];
    await subject.claimed('a');
    seen.push(await subject.peek());
    await subject.release('a');
    seen.push(await subject.peek());
    await subject.claimed('b');
    seen.push(await subject.peek());
    await subject.complete('b');
    seen.push(await subject.peek());
    assert.deepEqual(seen, ['unknown', 'running', 'unknown', 'running', 'completed']);
  },
  'a peek is not a claim: it neither counts nor takes the id': async (subject) => {
    await subject.peek();
    assert.equal((await subject.claimed('a')).attempt, 1);
    await subject.peek();
    assert.equal(await subject.renew('a'), 'held');
    await subject.release('a', ['book']);
    await subject.peek();
    const { attempt, abandoned, handled } = await subject.claimed('b');
    assert.deepEqual(
      { attempt, abandoned, handled: [...handled] },
      { attempt: 2, abandoned: 0, handled: ['book'] },
    );
  },
  'peek extends no lease': async (subject) => {
    await subject.claimed('a', { leaseMs: SHORT_MS });
    await untilOver(SHORT_MS, async () => (await subject.peek()) === 'unknown');
    const { attempt, abandoned } = await subject.claimed('b', { leaseMs: LONG_MS });
    assert.deepEqual({ attempt, abandoned }, { attempt: 2, abandoned: 1 });
  },
  'peek extends no retention': async (subject) => {
    await subject.complete('a', SHORT_MS);
    await untilOver(SHORT_MS, async () => (await subject.peek()) === 'unknown');
    assert.equal((await subject.claimed('b')).attempt, 1);
  },
};
