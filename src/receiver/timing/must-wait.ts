import { dropPromise } from '../values/foreign-values.ts';

/** A store, a queue or dead letters, which may be the application's. */
interface Connected {
  mustWait?(): boolean;
}

/** Returns true if an operation that begins now would wait for a connection. Never throws. */
export function mustWait(owner: Connected): boolean {
  return isTrue(() => owner.mustWait?.());
}

/** Returns true if a method of a foreign object returns true. Never throws. */
export function isTrue(ask: () => unknown): boolean {
  try {
    const answer = ask();
    if (typeof answer === 'object') dropPromise(answer);
    return answer === true;
  } catch {
    return false;
  }
}
