import type { Mistake, SourceMistake } from './mistakes.ts';

/** Walks at random must find this mistake as well. */
export const isNotLastAttempt: SourceMistake = {
  name: 'an accept is not a last attempt',
  file: 'receiver/handling/run/origin.ts',
  find: 'isFinal: () => true,\n  // A first crash',
  replace: 'isFinal: () => false,\n  // A first crash',
};

/** Walks at random must find this one as well. */
export const leavesFailure: SourceMistake = {
  name: 'an accept leaves the failure of the delivery that it has joined',
  file: 'receiver/handling/ways-in/accept.ts',
  find: 'if (isSuccess(answer) || !joined || attempt === undefined) return answer;',
  replace: 'if (isSuccess(answer) || joined || attempt === undefined) return answer;',
};

/** Mistakes with events that the application has fetched, and accepts. */
export const acceptMistakes: readonly Mistake[] = [
  {
    ...isNotLastAttempt,
    scope: 'an accept beside a delivery, whatever fails once',
    promise: 'an accept whose handlers fail is parked',
  },
  {
    ...leavesFailure,
    scope: 'an accept beside a delivery, whatever fails once',
    promise: 'an accept whose handlers fail is parked',
  },
  {
    name: 'an accept runs an event that has ended two processes',
    file: 'receiver/handling/run/origin.ts',
    find: 'mayRunAfterCrash: ({ letterWasRunning }) => !letterWasRunning,',
    replace: 'mayRunAfterCrash: () => true,',
    scope: 'an accept that is repeated after crashes',
    promise: 'no accept runs an event whose letter says that a process died with it',
  },
  {
    name: 'an accept after a crash stores no letter before its handlers run',
    file: 'receiver/handling/run/handle-event.ts',
    find: 'return progress.final && (storesFirst || result.abandoned > 0);',
    replace: 'return progress.final && storesFirst;',
    scope: 'an accept that is repeated after crashes',
    promise: 'the letter of a last attempt is stored before its handlers run',
  },
  {
    name: 'an accept does not wait for another process that has the event',
    file: 'receiver/handling/run/handle-event.ts',
    find: "if (found.state === 'busy') return answerBusy(run);",
    replace:
      "if (found.state === 'busy' && run.input.origin.source === 'accept')\n" +
      "      return accept('duplicate', run.input.identity.id);\n" +
      "    if (found.state === 'busy') return answerBusy(run);",
    scope: 'an accept beside a delivery, whatever fails once',
    promise: 'no 2xx before the event is handled or parked',
  },
];
