import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../../receiver/dedupe/store.ts';
import { deadLettersError } from '../../kit/dead-letters-error.ts';
import { REMOVED_KEPT_MS } from '../../kit/durations.ts';
import { createOrderedList, readStoredLetter } from '../../kit/ordered-list.ts';
import { serializeLetter } from '../../kit/serialized-letter.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { type RedisClient, toScriptClient } from '../client.ts';
import { RedisConnection } from '../connection.ts';
import type { Script } from '../script.ts';
import { fromText, GET, NEXT, PUT, REMOVE } from './scripts.ts';

/** Options of {@link createRedisDeadLetters}. */
export interface RedisDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The Redis store may have the same scope.
   */
  readonly scope: string;
  /** How long one command may take before it counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number;
}

/** A time in the year 2255. The numbers of Redis are exact up to a thousand times that. */
const LAST_TIME_MS = 9_000_000_000_000;

/**
 * Keeps dead letters in Redis. They do not expire, and are as durable as that Redis. With `appendonly no`, it
 * loses them when it restarts. In a Cluster all letters of a scope lie on one node. `list` can continue
 * `after` a letter that was removed within the last day. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError for a client that `createRedisStore` refuses, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const deadLetters = createRedisDeadLetters(redis, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createRedisDeadLetters(redis: RedisClient, options: RedisDeadLettersOptions): DeadLetters {
  const client = toScriptClient('createRedisDeadLetters', redis);
  const { scope, commandTimeoutMs } = readServerOptions('createRedisDeadLetters', options, 2_000);
  const connection = new RedisConnection(client, commandTimeoutMs);
  // No key of the store has a slash after its scope; the braces put the keys into one slot of a Cluster.
  const prefix = `${scope}/dead-letters{${scope}}`;
  const run = async (script: Script, member: string, ...values: string[]): Promise<readonly string[]> => {
    const keys = [`${prefix}:positions`, `${prefix}:letters`, `${prefix}:removed:${member}`];
    try {
      return await connection.runOnceReady({ script, keys, values: [member, ...values] });
    } catch (cause) {
      throw deadLettersError('Redis', scope, cause);
    }
  };

  return {
    async put(letter) {
      const parkedAt = Math.min(Math.trunc(letter.parkedAt), LAST_TIME_MS);
      await run(PUT, toKey(letter.id), serializeLetter(letter), String(parkedAt));
    },

    async get(id) {
      const [text] = await run(GET, toKey(id));
      return text === undefined ? undefined : readStoredLetter('Redis', id, fromText(text));
    },

    async remove(id) {
      const [removed] = await run(REMOVE, toKey(id), String(REMOVED_KEPT_MS));
      return removed === '1';
    },

    list: createOrderedList('Redis', async (key, place) => {
      const [next, text, position] = await run(NEXT, key, place);
      if (next === undefined || text === undefined || position === undefined) return undefined;
      return { key: fromText(next), text: fromText(text), place: position };
    }),

    mustWait: () => !connection.isReady,
  };
}
