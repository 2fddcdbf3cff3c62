import { dropPromise } from '../foreign-values.ts';

/** A store, a queue or dead letters, which may be the application's. */
interface Connected {
  mustWait?(): boolean;
}

/** Whether an operation that begins now would wait for a connection. Never throws. */
export function mustWait(owner: Connected): boolean {
  try {
    const answer: unknown = owner.mustWait?.();
    if (typeof answer === 'object') dropPromise(answer);
    return answer === true;
  } catch {
    return false;
  }
}
