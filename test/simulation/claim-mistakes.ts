import type { Mistake } from './mistakes.ts';

/** Mistakes with looks, with claims that are not runs, and with claims that come late. */
export const claimMistakes: readonly Mistake[] = [
  {
    name: 'a drop goes by what its look has found',
    file: 'receiver/handling/ways-in/hold-id.ts',
    find: 'const reply = await claim.take();',
    replace:
      "const lease = { state: 'held', needsConfirmation: false, startRenewing() {}, stop() {} };\n" +
      "    const reply = found === undefined ? await claim.take() : { state: 'claimed', lease };",
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no event is dropped while a run has a lease that holds',
  },
  {
    name: 'a drop takes an event that is running for one that was handled',
    file: 'receiver/handling/ways-in/hold-id.ts',
    find: "if (found?.state === 'completed') return { state: 'completed' };",
    replace: "if (found?.state !== 'unknown') return { state: 'completed' };",
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no letter is removed before its event is handled or dropped',
  },
  {
    name: 'a claim that got no answer is given back, and not refused later',
    file: 'receiver/dedupe/claim.ts',
    find: 'const refuseClaimsMs = this.#isUncertain ? leaseMs : undefined;',
    replace: 'const refuseClaimsMs = undefined;',
    scope: 'a lost reply',
    promise: 'nobody is shut out by a claim that was given back',
  },
  {
    name: 'a store refuses only later claims of a token that has the id',
    file: 'stores/memory/memory.ts',
    find: 'if (refuseClaimsMs > 0) this.#refuse(key, afterForeignRelease(record, [], terms, now), now);',
    replace: '',
    scope: 'one delivery, whatever fails once',
    promise: 'a claim is given back by its process',
  },
  {
    name: 'a store refuses no later claims of a token that has the id',
    file: 'stores/kit/claim-rule.ts',
    find: 'refused: refusedAfter(found.refused, terms, now),',
    replace: 'refused: found.refused,',
    scope: 'one delivery, whatever fails once',
    promise: 'a claim is given back by its process',
  },
  {
    name: 'a delivery that waits does not give back a claim that got no answer',
    file: 'receiver/handling/run/wait-for-other.ts',
    find: 'if (hasFailed) void claim.release([]);',
    replace: '',
    scope: 'a lost reply',
    promise: 'a claim is given back by its process',
  },
  {
    name: 'a claim that is not a run counts as an attempt',
    file: 'stores/kit/claim-rule.ts',
    find: 'if (isHold(terms.token)) return next;',
    replace: '',
    scope: 'a parked letter that is replayed and dropped',
    promise: 'a claim that is not a run is neither an attempt nor abandoned',
  },
  {
    name: 'a claim that is not a run counts as abandoned',
    file: 'stores/kit/claim-rule.ts',
    find: 'const isAbandoned = !isReleased && !isHold(found.token);',
    replace: 'const isAbandoned = !isReleased;',
    scope: 'a parked letter that is replayed and dropped',
    promise: 'a claim that is not a run is neither an attempt nor abandoned',
  },
  {
    name: 'the claim of a drop is taken for a run',
    file: 'receiver/handling/ways-in/hold-id.ts',
    find: 'services, warnings, nextHoldToken());',
    replace: 'services, warnings);',
    scope: 'a parked letter that is replayed and dropped',
    promise: 'a claim that is not a run is neither an attempt nor abandoned',
  },
];
