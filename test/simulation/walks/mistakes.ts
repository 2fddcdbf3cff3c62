import { isNotLastAttempt, leavesFailure } from '../accept-mistakes.ts';
import type { SourceMistake } from '../mistakes.ts';
import { holdsNoEvent, holdsNoTurn, isNotCompleted } from '../rerun-mistakes.ts';

/** A mistake that walks at random must find. */
export interface WalkMistake extends SourceMistake {
  /** The kind of world in which they find it. */
  readonly profile: string;
  /** The promise that it breaks. */
  readonly promise: string;
  /** The seed of the first walk, for a mistake that few walks find; 1 by default. */
  readonly seed?: number;
}

const profile = 'keys';

/** The exploration of keys must find this mistake as well. */
export const twoAreGranted: SourceMistake = {
  name: 'two events that wait are granted a key at once',
  file: 'receiver/handling/keys/key-queue.ts',
  find: 'this.#waiting.grantFirst(held);',
  replace: 'this.#waiting.grantFirst(held);\n        this.#waiting.grantFirst(held);',
};

/** Mistakes with concurrency keys: the smaller worlds, which have one event, cannot show them. */
export const walkMistakes: readonly WalkMistake[] = [
  {
    name: 'the lease of a key is not renewed',
    file: 'receiver/handling/keys/key-queue.ts',
    find: 'lease.startRenewing(() => held?.onTaken(), { keepsAlive: false });',
    replace: '',
    profile,
    promise: 'a concurrency key is released by its process',
  },
  {
    ...twoAreGranted,
    profile,
    promise: 'one run of a handler has a concurrency key at a time',
  },
  {
    name: 'a handler begins on an old lease of its key',
    file: 'receiver/handling/run/keyed-handlers.ts',
    find: 'while (this.#lease.needsConfirmation || keyLease.needsConfirmation)',
    replace: 'while (this.#lease.needsConfirmation)',
    profile: 'standstills',
    promise: 'a handler begins only while the lease of its concurrency key holds',
  },
  {
    name: 'a handler begins though its key is lost',
    file: 'receiver/handling/run/keyed-handlers.ts',
    find: "if (keyLease.state === 'held') return",
    replace: 'return',
    profile: 'standstills',
    promise: 'a handler begins only while the lease of its concurrency key holds',
    seed: 1_500,
  },
  {
    name: 'a busy key is taken for a free one',
    file: 'receiver/handling/keys/key-queue.ts',
    find: 'reply = await claim.takeOrProceedUnclaimed(this.#claimWait());',
    replace:
      'reply = await claim.takeOrProceedUnclaimed(this.#claimWait());\n' +
      "      const lease = { state: 'held', needsConfirmation: false, confirm() {}, startRenewing() {}, stop() {} };\n" +
      "      if (reply.state === 'busy') return { claim, warnings, lease };",
    profile,
    promise: 'a handler begins only while the lease of its concurrency key holds',
  },
  {
    name: 'a key is not released in the store',
    file: 'receiver/handling/keys/key-queue.ts',
    find: 'await claim.release([]);\n    noteGivenBack();',
    replace: 'noteGivenBack();',
    profile,
    promise: 'a concurrency key is released by its process',
  },
  {
    name: 'a claim of a key that got no answer is not released',
    file: 'receiver/handling/keys/key-queue.ts',
    find: 'void claim.release([]).then(() => this.#calls.end());',
    replace: 'this.#calls.end();',
    profile,
    promise: 'a concurrency key is released by its process',
  },
  {
    name: 'nobody claims a key again once it was released',
    file: 'receiver/handling/keys/key-queue.ts',
    find: "this.#enter('idle');\n    this.#onIdle();",
    replace: "this.#enter('waiting');",
    profile,
    promise: 'a concurrency key is busy only while a process has it',
  },
  {
    name: 'a delivery does not wait for a key',
    file: 'receiver/handling/keys/key-wait.ts',
    find: 'return request.waitsIfBusy && request.countBody();',
    replace: 'return !request.waitsIfBusy && request.countBody();',
    profile,
    promise: 'a delivery waits for its concurrency key until its handlers must begin',
  },
];

const givenBack = 'a claim is given back by its process';

/** Mistakes with claims that come late, and with looks. */
export const lateClaimMistakes: readonly WalkMistake[] = [
  {
    name: 'a claim that got no answer is given back, and not refused later',
    file: 'receiver/dedupe/claim.ts',
    find: 'const refuseClaimsMs = this.#isUncertain ? leaseMs : undefined;',
    replace: 'const refuseClaimsMs = undefined;',
    profile: 'late claims',
    promise: givenBack,
  },
  {
    name: 'a claim is never uncertain',
    file: 'receiver/dedupe/claim.ts',
    find: 'this.#isUncertain = true;\n      return this.#proceedUnclaimed(error);',
    replace: 'return this.#proceedUnclaimed(error);',
    profile: 'late claims',
    promise: 'nobody is shut out by a claim that was given back',
  },
  {
    name: 'a store that refuses no claims is told only once to give a claim back',
    file: 'receiver/dedupe/claim.ts',
    find: 'if (this.#isUncertain && !store.refusesLateClaims)',
    replace: 'if (this.#isUncertain && store.refusesLateClaims)',
    profile: 'late claims',
    promise: givenBack,
  },
  {
    name: 'a store that refuses no claims is told twice at once to give a claim back',
    file: 'receiver/dedupe/claim.ts',
    find: 'retryRelease(store, leaseMs, request), store.commandTimeoutMs);',
    replace: 'retryRelease(store, leaseMs, request), 0);',
    profile: 'late claims',
    promise: givenBack,
  },
  {
    name: 'an event from the future that is running is taken for one that was handled',
    file: 'receiver/handling/ways-in/park-refused.ts',
    find: "limitMs))?.state === 'completed';",
    replace: "limitMs))?.state !== 'unknown';",
    profile: 'any',
    promise: 'no 2xx before the event is handled, parked, dropped or queued',
  },
];

/** Mistakes with events that the application has fetched, and accepts. */
export const acceptMistakes: readonly WalkMistake[] = [
  {
    ...isNotLastAttempt,
    profile: 'accepts',
    promise: 'an accept whose handlers fail is parked',
  },
  {
    ...leavesFailure,
    profile: 'accepts',
    promise: 'an accept whose handlers fail is parked',
  },
  {
    name: 'an accept runs the handlers of workers itself',
    file: 'receiver/handling/ways-in/accept.ts',
    find: 'return queue !== undefined && routes.some(isQueued) ? toEnqueueInput(input, queue, settings) : input;',
    replace: 'return input;',
    profile: 'accepts',
    promise: 'handlers of an event run in one process at a time',
  },
];

/** Mistakes with reruns of the handlers of events that were handled. */
export const rerunMistakes: readonly WalkMistake[] = [
  {
    ...holdsNoTurn,
    profile: 'reruns',
    promise: 'a rerun begins only while it has the turn of its handler',
  },
  {
    ...isNotCompleted,
    profile: 'reruns',
    promise: 'no rerun runs again after it was reported as processed',
  },
  {
    ...holdsNoEvent,
    profile: 'reruns',
    promise: 'a rerun of a handler runs alone',
  },
  {
    name: 'a rerun holds only one of the two ids of an event with handlers for workers',
    file: 'receiver/handling/ways-in/rerun-input.ts',
    find: '[enqueueingId(key), handlingId(key)] :',
    replace: '[enqueueingId(key)] :',
    profile: 'reruns',
    promise: 'a rerun of a handler runs alone',
  },
];
