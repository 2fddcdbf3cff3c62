import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { REMOVED_KEPT_MS } from '../../kit/durations.ts';
import { createServerDeadLetters } from '../../kit/server-dead-letters.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { type RedisClient, toScriptClient } from '../client.ts';
import { RedisConnection } from '../connection.ts';
import type { Script } from '../script.ts';
import { fromText, GET, HEADS, NEXT, PUT, REMOVE } from './scripts.ts';

/** Options of {@link createRedisDeadLetters}. */
export interface RedisDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The Redis store may have the same scope.
   */
  readonly scope: string;
  /** The time after which a command counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number | undefined;
}

/** A time in the year 2255. The numbers of Redis are exact up to a thousand times that. */
const LAST_TIME_MS = 9_000_000_000_000;

/**
 * Keeps dead letters in Redis. They do not expire, and are as durable as that Redis. With `appendonly no`, it
 * loses them when it restarts. In a Cluster all of a scope are on one node. `list` can continue `after` one
 * that was removed within the last day. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError for a client that `createRedisStore` refuses, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createRedisDeadLetters } from 'posthorn/redis';
 *
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
  const run = (script: Script, member: string, ...values: string[]): Promise<readonly string[]> => {
    const keys = [`${prefix}:positions`, `${prefix}:letters`, `${prefix}:removed:${member}`];
    return connection.runOnceReady({ script, keys, values: [member, ...values] });
  };

  return createServerDeadLetters('Redis', scope, {
    async put(key, text, parkedAt) {
      await run(PUT, key, text, String(Math.min(Math.trunc(parkedAt), LAST_TIME_MS)));
    },

    async get(key) {
      const [text] = await run(GET, key);
      return text === undefined ? undefined : { text: fromText(text) };
    },

    async remove(key) {
      const [removed] = await run(REMOVE, key, String(REMOVED_KEPT_MS));
      return removed === '1';
    },

    async next(key, place) {
      const [next, text, position] = await run(NEXT, key, place);
      if (next === undefined || text === undefined || position === undefined) return undefined;
      return { key: fromText(next), text: fromText(text), place: position };
    },

    async heads(key, place, most) {
      const found = await run(HEADS, key, place, String(most));
      return Array.from({ length: found.length / 3 }, (_, index) => {
        const [next = '', head = '', position = ''] = found.slice(3 * index);
        // Redis evicts keys one by one if it is told to.
        const damage = head === '' ? 'only its position is there' : undefined;
        return { key: fromText(next), head: fromText(head), place: position, damage };
      });
    },

    mustWait: () => !connection.isReady,
  });
}
