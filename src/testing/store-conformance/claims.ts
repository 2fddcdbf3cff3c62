import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pause } from '../../receiver/timing/process-clock.ts';
import {
  LONG_MS,
  MOST_CLOCK_ALLOWANCE_MS,
  type Requirements,
  SHORT_MS,
  Subject,
  untilOver,
} from './subject.ts';

/** The requirements of every store. */
export const claims: Requirements = {
  'a new id is claimed as attempt 1': async (subject) => {
    const { attempt, abandoned, firstClaimedMsAgo, handled } = await subject.claimed('a');
    assert.deepEqual(
      { attempt, abandoned, handled: [...handled] },
      { attempt: 1, abandoned: 0, handled: [] },
    );
    assert.ok(firstClaimedMsAgo >= 0 && firstClaimedMsAgo < LONG_MS);
  },
  'a claimed id is busy for others': async (subject) => {
    await subject.claimed('a');
    const result = await subject.claim('b');
    assert.equal(result.state, 'busy');
    assert.ok(result.state === 'busy' && result.msLeft > 0);
    assert.ok(result.msLeft <= LONG_MS + MOST_CLOCK_ALLOWANCE_MS);
  },
  'of many claims at once, one succeeds': async (subject) => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => subject.claim(`token-${index}`)),
    );
    assert.equal(results.filter(({ state }) => state === 'claimed').length, 1);
    assert.equal(results.filter(({ state }) => state === 'busy').length, 19);
  },
  'a claim repeated with its token is the same claim': async (subject) => {
    await subject.claimed('a');
    const { attempt, abandoned } = await subject.claimed('a');
    assert.deepEqual({ attempt, abandoned }, { attempt: 1, abandoned: 0 });
  },
  'a claim whose lease ran out is taken over and counted as abandoned': async (subject) => {
    await subject.claimed('a', { leaseMs: SHORT_MS });
    const { attempt, abandoned, firstClaimedMsAgo } = await subject.takeOver('b');
    assert.deepEqual({ attempt, abandoned }, { attempt: 2, abandoned: 1 });
    assert.ok(firstClaimedMsAgo > 0);
    assert.equal(await subject.renew('a'), 'lost');
    assert.equal(await subject.release('a'), 'lost');
    assert.equal(await subject.renew('b'), 'held');
  },
  'a renewed lease holds': async (subject) => {
    await subject.claimed('a', { leaseMs: SHORT_MS });
    assert.equal(await subject.renew('a'), 'held');
    const result = await subject.claim('b');
    assert.ok(result.state === 'busy' && result.msLeft > SHORT_MS);
  },
  'an absent id is created anew for its owner by renew': async (subject) => {
    assert.equal(await subject.renew('a'), 'held');
    assert.equal((await subject.claim('b')).state, 'busy');
    assert.equal(await subject.release('a'), 'released');
    assert.equal((await subject.claimed('b')).attempt, 2);
  },
  'an expired lease that nobody took is renewed': async (subject) => {
    await subject.claimed('a', { leaseMs: 1 });
    await pause(10);
    assert.equal(await subject.renew('a'), 'held');
    assert.equal((await subject.claim('b')).state, 'busy');
  },
  'a completed id stays completed for everybody': async (subject) => {
    await subject.claimed('a');
    assert.equal(await subject.complete('a'), 'completed');
    assert.equal((await subject.claim('b')).state, 'completed');
    assert.equal(await subject.renew('a'), 'completed');
    assert.equal(await subject.release('a'), 'completed');
    assert.equal(await subject.complete('a'), 'completed');
    assert.equal((await subject.claim('a')).state, 'completed');
  },
  'complete counts whoever holds the lease now': async (subject) => {
    await subject.claimed('a', { leaseMs: SHORT_MS });
    await subject.takeOver('b');
    assert.equal(await subject.complete('a'), 'completed');
    assert.equal(await subject.renew('b'), 'completed');
    assert.equal(await subject.release('b'), 'completed');
  },
  'an id that was never claimed can be completed': async (subject) => {
    assert.equal(await subject.complete('a'), 'completed');
    assert.equal((await subject.claim('b')).state, 'completed');
  },
  'a released id can be claimed at once; attempts and finished handlers are kept': async (subject) => {
    await subject.claimed('a');
    assert.equal(await subject.release('a', ['book', 'mail "x", é']), 'released');
    const { attempt, abandoned, handled } = await subject.claimed('b');
    assert.deepEqual({ attempt, abandoned }, { attempt: 2, abandoned: 0 });
    assert.deepEqual([...handled], ['book', 'mail "x", é']);
  },
  'a release repeated with its token does no harm': async (subject) => {
    await subject.claimed('a');
    await subject.release('a', ['book']);
    assert.equal(await subject.release('a', ['book']), 'released');
    await subject.claimed('b');
    assert.equal(await subject.release('a', []), 'lost');
    assert.equal((await subject.claim('c')).state, 'busy');
  },
  'a renewal that runs after its release takes nothing': async (subject) => {
    await subject.claimed('a');
    await subject.release('a');
    assert.equal(await subject.renew('a'), 'lost');
    assert.equal((await subject.claimed('b')).attempt, 2);
  },
  'a release without a claim takes nothing': async (subject) => {
    assert.equal(await subject.release('a'), 'lost');
    assert.equal((await subject.claimed('b')).attempt, 1);
  },
  'finished handlers survive a lease that ran out': async (subject) => {
    await subject.claimed('a');
    await subject.release('a', ['book']);
    await subject.claimed('b', { leaseMs: SHORT_MS });
    const { handled, abandoned } = await subject.takeOver('c');
    assert.deepEqual({ handled: [...handled], abandoned }, { handled: ['book'], abandoned: 1 });
  },
  'a release that names no handlers keeps those that finished earlier': async (subject) => {
    await subject.claimed('a');
    await subject.release('a', ['book']);
    await subject.claimed('b');
    await subject.release('b');
    assert.deepEqual([...(await subject.claimed('c')).handled], ['book']);
  },
  'claims in quick succession count once in spacedAttempts, where the store tells it': async (subject) => {
    const attemptSpacingMs = 10_000;
    await subject.claimed('a', { attemptSpacingMs });
    await subject.release('a');
    const { attempt, spacedAttempts = 1 } = await subject.claimed('b', { attemptSpacingMs });
    assert.deepEqual({ attempt, spacedAttempts }, { attempt: 2, spacedAttempts: 1 });
  },
  'a completed id is forgotten after its retention': async (subject) => {
    await subject.complete('a', SHORT_MS);
    await untilOver(SHORT_MS, async () => (await subject.claim('b')).state !== 'completed');
    assert.equal((await subject.claim('b')).state, 'claimed');
  },
  'a token of a hold has an id like any other token': async (subject) => {
    await subject.claimed('hold:a');
    for (const token of ['hold:b', 'c']) assert.equal((await subject.claim(token)).state, 'busy');
    assert.equal(await subject.renew('hold:a'), 'held');
    assert.equal(await subject.release('hold:a'), 'released');
    await subject.claimed('b');
    assert.equal((await subject.claim('hold:c')).state, 'busy');
    await subject.release('b');
    await subject.claimed('hold:c');
    assert.equal(await subject.complete('hold:c'), 'completed');
    assert.equal((await subject.claim('hold:d')).state, 'completed');
  },
  'ids of any form are told apart': async ({ store }) => {
    const long = 'x'.repeat(100_000);
    const ids = [
      long,
      `${long}y`,
      'a',
      'A',
      'a ',
      'é',
      'e\u0301',
      '{a}',
      'a:b',
      '*',
      '\u0000',
      '\n',
      '\ud800',
      '\ud801',
    ];
    const suffix = randomUUID();
    for (const id of ids) await new Subject(store, id + suffix).complete('t');
    for (const id of ids) assert.equal((await new Subject(store, id + suffix).claim('t')).state, 'completed');
    assert.equal((await new Subject(store, `b${suffix}`).claim('t')).state, 'claimed');
  },
};
