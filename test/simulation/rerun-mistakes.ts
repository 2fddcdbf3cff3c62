import type { Mistake, SourceMistake } from './mistakes.ts';

/** Walks at random must find this mistake as well. */
export const holdsNoTurn: SourceMistake = {
  name: 'a rerun does not take the turn of its handler',
  file: 'receiver/handling/ways-in/rerun-input.ts',
  find: '[...idsOfEvent, turnOf(handler, identity, settings)]',
  replace: 'idsOfEvent',
};

/** Walks at random must find this one as well. */
export const isNotCompleted: SourceMistake = {
  name: 'a rerun is not recorded',
  file: 'receiver/handling/run/run-end.ts',
  find: 'const isKnown = await run.claim.complete();',
  replace: 'const isKnown = run.input.rerun !== undefined || (await run.claim.complete());',
};

/** Walks at random must find this one as well. */
export const holdsNoEvent: SourceMistake = {
  name: 'a rerun does not hold its event',
  file: 'receiver/handling/ways-in/rerun-input.ts',
  find: '[...idsOfEvent, turnOf(handler, identity, settings)]',
  replace: '[turnOf(handler, identity, settings)]',
};

/** Mistakes with reruns of the handler of an event that was handled. */
export const rerunMistakes: readonly Mistake[] = [
  {
    ...holdsNoTurn,
    scope: 'two reruns of different names, whatever fails once',
    promise: 'a rerun begins only while it alone has the turn of its handler',
  },
  {
    ...isNotCompleted,
    scope: 'a rerun that is repeated, whatever fails once',
    promise: 'no rerun runs again after it was reported as processed',
  },
  {
    ...holdsNoEvent,
    scope: 'a rerun beside a delivery of an event that the store has forgotten',
    promise: 'handlers begin only on a lease that holds',
  },
  {
    name: 'the handler of a rerun begins though its turn is lost',
    file: 'receiver/dedupe/join-leases.ts',
    find: "? 'lost' : own.state;",
    replace: "? 'held' : own.state;",
    scope: 'two reruns of different names, whatever fails once',
    promise: 'a rerun begins only while it alone has the turn of its handler',
  },
  {
    name: 'the handler of a rerun begins on an old lease of its turn',
    file: 'receiver/dedupe/join-leases.ts',
    find: 'return all.some((lease) => lease.needsConfirmation);',
    replace: 'return own.needsConfirmation;',
    scope: 'two reruns of different names, whatever fails once',
    promise: 'a rerun begins only while it alone has the turn of its handler',
  },
  {
    name: 'a rerun does not give its turn back',
    file: 'receiver/handling/ways-in/rerun.ts',
    find: 'lease.stop();\n    await claim.release([]);',
    replace: 'lease.stop();',
    scope: 'two reruns of different names, whatever fails once',
    promise: 'a claim is given back by its process',
  },
  {
    name: 'a rerun whose handler fails parks its event',
    file: 'receiver/handling/run/origin.ts',
    find: 'usesLetter: false,',
    replace: 'usesLetter: true,',
    scope: 'a rerun that is repeated, whatever fails once',
    promise: 'a rerun leaves the letter of its event as it is',
  },
];
