import assert from 'node:assert/strict';
import { pause } from '../../receiver/timing/process-clock.ts';
import { LONG_MS, MOST_CLOCK_ALLOWANCE_MS, type Requirements, SHORT_MS, type Subject } from './subject.ts';

/** The requirements of a store that has `refusesLateClaims`. */
export const lateClaims: Requirements = {
  'a claim that arrives after its release is refused, and no other one': async (subject) => {
    assert.equal(await subject.release('a', [], LONG_MS), 'lost');
    assert.equal(await subject.release('a', [], LONG_MS), 'lost');
    await assertRefused(subject, 'a');
    assert.deepEqual(await countsOf(subject, 'b'), { attempt: 1, abandoned: 0, handled: [] });
    await assertRefused(subject, 'a');
    assert.equal(await subject.renew('b'), 'held');
    assert.equal(await subject.release('b', ['book']), 'released');
    await assertRefused(subject, 'a');
    assert.deepEqual(await countsOf(subject, 'c'), { attempt: 2, abandoned: 0, handled: ['book'] });
  },
  'a renewal that arrives after its release is refused too': async (subject) => {
    await subject.release('a', [], LONG_MS);
    assert.equal(await subject.renew('a'), 'lost');
    assert.equal(await subject.renew('b'), 'held');
  },
  'a late claim is refused after its owner has released the id': async (subject) => {
    await subject.claimed('a');
    assert.equal(await subject.release('a', ['book'], LONG_MS), 'released');
    await assertRefused(subject, 'a');
    assert.deepEqual(await countsOf(subject, 'b'), { attempt: 2, abandoned: 0, handled: ['book'] });
    assert.equal(await subject.release('a', [], LONG_MS), 'lost');
    assert.equal(await subject.renew('b'), 'held');
  },
  'late claims of several tokens are refused, whoever has the id': async (subject) => {
    await subject.claimed('a');
    assert.equal(await subject.release('b', [], LONG_MS), 'lost');
    assert.equal(await subject.release('c', [], LONG_MS), 'lost');
    assert.equal(await subject.renew('a'), 'held');
    assert.equal(await subject.release('a'), 'released');
    await assertRefused(subject, 'b');
    await assertRefused(subject, 'c');
    assert.deepEqual(await countsOf(subject, 'a'), { attempt: 2, abandoned: 0, handled: [] });
    await subject.complete('a');
    assert.equal(await subject.release('b', [], LONG_MS), 'completed');
    assert.equal((await subject.claim('b')).state, 'completed');
  },
  'claims are refused for as long as the release says, and the id is kept for longer': async (subject) => {
    await subject.claimed('a');
    await subject.release('a', ['book']);
    assert.equal(await subject.release('b', [], SHORT_MS), 'lost');
    await pause(2 * SHORT_MS);
    const { attempt, abandoned, handled } = await subject.takeOver('b');
    assert.deepEqual(
      { attempt, abandoned, handled: [...handled] },
      { attempt: 2, abandoned: 0, handled: ['book'] },
    );
  },
};

async function assertRefused(subject: Subject, token: string): Promise<void> {
  const result = await subject.claim(token);
  assert.equal(result.state, 'busy');
  assert.ok(result.state === 'busy' && result.msLeft > 0);
  assert.ok(result.msLeft <= LONG_MS + MOST_CLOCK_ALLOWANCE_MS);
}

async function countsOf(subject: Subject, token: string): Promise<object> {
  const { attempt, abandoned, handled } = await subject.claimed(token);
  return { attempt, abandoned, handled: [...handled] };
}
