import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { createServerDeadLetters } from '../../kit/server-dead-letters.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { checkBinding, type D1Binding } from '../client.ts';
import { D1Connection } from '../connection.ts';
import { D1LetterOperations } from './operations.ts';

/** Options of {@link createD1DeadLetters}. */
export interface D1DeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The D1 store may have the same scope.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 5,000 by default. That
   * includes further tries.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps dead letters in D1. They do not expire. One that is too long for a row is split; if a part of it is
 * missing, it is refused (`dead_letter_unreadable`). A write that arrives after its time limit does nothing.
 * `list` can continue `after` one that was removed within the last day. `d1Migration` has the tables; on
 * those of an earlier version they work too, and `console.error` says once what to run. Operations reject
 * with DeadLetterError.
 *
 * @throws ConfigurationError if the binding is not a D1 database, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createD1DeadLetters } from 'posthorn/d1';
 *
 * const deadLetters = createD1DeadLetters(env.DB, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey: env.SIGNING_KEY, deadLetters });
 * ```
 */
export function createD1DeadLetters(binding: D1Binding, options: D1DeadLettersOptions): DeadLetters {
  checkBinding('createD1DeadLetters', binding);
  const { scope, commandTimeoutMs } = readServerOptions('createD1DeadLetters', options, 5_000);
  const operations = new D1LetterOperations(new D1Connection(binding, commandTimeoutMs), scope);
  return createServerDeadLetters('D1', scope, operations);
}
