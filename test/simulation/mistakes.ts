import { acceptMistakes } from './accept-mistakes.ts';
import { claimMistakes } from './claim-mistakes.ts';
import type { PromiseText } from './promise-texts.ts';
import { rerunMistakes } from './rerun-mistakes.ts';
import type { ScopeName } from './scope.ts';

/** A mistake that is put into a source while it is bundled. */
export interface SourceMistake {
  readonly name: string;
  /** Below `src`. */
  readonly file: string;
  /** Must occur once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** A mistake that the exploration must find. */
export interface Mistake extends SourceMistake {
  /** Where the exploration finds it. */
  readonly scope: ScopeName;
  /** The promise that it breaks. */
  readonly promise: PromiseText;
}

/** Mistakes that the exploration must find, each in the scope that it names. */
export const mistakes: readonly Mistake[] = [
  {
    name: 'the id is recorded before the handlers run',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'run.handlersEnded = startHandlers(run, event, lease);',
    replace: 'await run.claim.complete();\n  run.handlersEnded = startHandlers(run, event, lease);',
    scope: 'without a fault',
    promise: 'no 2xx before the event is handled or parked',
  },
  {
    name: 'a duplicate of a running event is accepted',
    file: 'receiver/handling/run/handle-event.ts',
    find: "if (found.state === 'busy') found = await waitForOther(run, found);",
    replace: "if (found.state === 'busy') return accept('duplicate', run.input.identity.id);",
    scope: 'without a fault',
    promise: 'no 2xx before the event is handled or parked',
  },
  {
    name: 'handlers begin on an old claim',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'while (lease.needsConfirmation) lease',
    replace: 'while (1 > 2) lease',
    scope: 'a standstill',
    promise: 'handlers begin only on a lease that holds',
  },
  {
    name: 'a release ends the lease of anybody',
    file: 'stores/memory/memory.ts',
    find: 'if (record !== undefined && record.token === token) {',
    replace: 'if (record !== undefined) {',
    scope: 'a lost reply',
    promise: 'nobody takes an id from a run whose lease holds',
  },
  {
    name: 'a completion counts for the owner only',
    file: 'stores/memory/memory.ts',
    find: 'complete({ id, retentionMs }: CompleteRequest): CompleteResult {\n    const key = toKey(id);',
    replace:
      'complete({ id, token, retentionMs }: CompleteRequest): CompleteResult {\n    const key = toKey(id);\n' +
      "    if ((this.#claims.get(key)?.token ?? token) !== token) return { state: 'completed' };",
    scope: 'a standstill',
    promise: 'an event that was handled is recorded',
  },
  {
    name: 'the letter of a last attempt is stored after it',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'mustPrepare(run, found) ? await prepareLastAttempt(run, found) : undefined;',
    replace: 'undefined;',
    scope: 'without a fault',
    promise: 'the letter of a last attempt is stored before its handlers run',
  },
  {
    name: 'nobody looks again after a letter was stored beside a run',
    file: 'receiver/handling/letters/event-letter.ts',
    find: 'if (await isCompleted(handling, services)) await this.remove();',
    replace: '',
    scope: 'without a fault',
    promise: 'no letter is left of an event that was handled',
  },
  {
    name: 'a delivery that no retry will follow fails with the run that it waits for',
    file: 'receiver/handling/ways-in/deliver.ts',
    find: 'if (isSuccess(answer) || !final) return answered;',
    replace: 'if (answered !== undefined) return answered;',
    scope: 'without a fault',
    promise: 'the last delivery is not refused while letters can be stored',
  },
  {
    name: 'a drop completes an id that it has not claimed',
    file: 'receiver/handling/ways-in/drop.ts',
    find: "const mayDrop = found.state === 'claimed' && (await parked.isStillParked()) && (await areHeld(claims));",
    replace: 'const mayDrop = true;',
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no event is dropped while a run has a lease that holds',
  },
  {
    name: 'an await between the last check of the claim and the handlers',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'const { state } = lease;',
    replace: 'const { state } = lease;\n    await new Promise((go) => setTimeout(go, 0));',
    scope: 'a standstill',
    promise: 'handlers begin only on a lease that holds',
  },
  {
    name: 'what a release says of a completion is ignored',
    file: 'receiver/handling/run/run-end.ts',
    find: "if (released.state === 'completed') return answerDuplicate(run);",
    replace: '',
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no delivery, replay or accept fails after a release was told of the completion',
  },
  {
    name: 'a late success is not recorded',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'if (error === run.interruption.endReason) void recordLateEnd(run);',
    replace: '',
    scope: 'without a fault',
    promise: 'an event that was handled is recorded',
  },
  {
    name: 'the lease is not renewed while the handlers run',
    file: 'receiver/dedupe/lease.ts',
    find: 'this.#keepsAlive = keepsAlive;\n    this.#renewAfterThird();',
    replace: 'this.#keepsAlive = keepsAlive;',
    scope: 'without a fault',
    promise: 'without a fault no lease runs out',
  },
  {
    name: 'a success leaves its letter',
    file: 'receiver/handling/run/run-end.ts',
    find: "if (run.letterRules.mayExist) await removeLetter(run, 'success');",
    replace: '',
    scope: 'without a fault',
    promise: 'no letter is left of an event that was handled',
  },
  {
    name: 'a claim that is lost is run all the same',
    file: 'receiver/handling/run/handle-event.ts',
    find: "if (state === 'held') return",
    replace: "if (state !== 'completed') return",
    scope: 'a standstill',
    promise: 'handlers begin only on a lease that holds',
  },
  {
    name: 'a delivery waits for one answer only',
    file: 'receiver/handling/run/wait-for-other.ts',
    find: "if (found !== undefined && found.state !== 'busy') {",
    replace: "if (found !== undefined || found.state !== 'busy') {",
    scope: 'without a fault',
    promise: 'no delivery is refused before its deadline because its event is running',
  },
  {
    name: 'the lease is renewed once',
    file: 'receiver/dedupe/lease.ts',
    find: "if (this.#state === 'held') this.#renewAfterThird();",
    replace: "if (this.#state !== 'held') this.#renewAfterThird();",
    scope: 'without a fault',
    promise: 'without a fault no lease runs out',
  },
  {
    name: 'a look takes an event that is running for one that was handled',
    file: 'receiver/dedupe/is-completed.ts',
    find: "return found.state === 'completed';",
    replace: "return found.state !== 'unknown';",
    scope: 'without a fault',
    promise: 'no letter is removed before its event is handled or dropped',
  },
  {
    name: 'a lost lease is taken for one that holds',
    file: 'receiver/dedupe/lease.ts',
    find: "return lease.state === 'held';",
    replace: "return lease.state !== 'held';",
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no event is dropped while a run has a lease that holds',
  },
  {
    name: 'nobody looks again after the last delivery was parked',
    file: 'receiver/handling/ways-in/park-run.ts',
    find: 'if (rulesOf(run.state).hasEnded)',
    replace: 'if (!rulesOf(run.state).hasEnded)',
    scope: 'without a fault',
    promise: 'no letter is left of an event that was handled',
  },
  {
    name: 'handlers run in a step that is not theirs',
    file: 'receiver/handling/run/handle-event.ts',
    find: "run.enter({ step: 'running' });",
    replace: "run.enter({ step: 'completing' });",
    scope: 'without a fault',
    promise: 'a run takes only the steps of its diagram',
  },
  {
    name: 'a run forgets its own letter',
    file: 'receiver/handling/letters/letter-rules.ts',
    find: "const isKnown = known !== 'none' || origin.mayBeParked;",
    replace: 'const isKnown = false;',
    scope: 'one delivery, whatever fails once',
    promise: 'the replay of an event that was handled is a duplicate, and removes the letter',
  },
  {
    name: 'a drop that drops nothing removes the letter',
    file: 'receiver/handling/ways-in/drop.ts',
    find: "if (isDropped || found.state === 'completed') await parked.remove();",
    replace: "if (isDropped || found.state !== 'completed') await parked.remove();",
    scope: 'a parked letter that is replayed and dropped',
    promise: 'no letter is removed before its event is handled or dropped',
  },
  {
    name: 'a completion that was given up is sent for ever',
    file: 'receiver/dedupe/retries.ts',
    find: 'this.#pending.delete(next.id);',
    replace: '',
    scope: 'one delivery, whatever fails twice but a standstill',
    promise: 'no completion is sent again once it is answered',
  },
  {
    name: 'a run does not end when it is aborted',
    file: 'receiver/handling/handlers/interruption.ts',
    find: 'for (const listener of this.#listeners) listener(reason);',
    replace: '',
    scope: 'one delivery, whatever fails once',
    promise: 'no lease is renewed for handlers that should have ended long ago',
  },
  ...claimMistakes,
  ...acceptMistakes,
  ...rerunMistakes,
];
