import { LRUCache } from 'lru-cache';
import type { DeadLetter, DeadLetters } from '../dead-letters/dead-letters.ts';
import { parseLetter, serializeLetter } from '../dead-letters/serialized-letter.ts';
import { toKey } from '../dedupe/store.ts';
import { DeadLetterError, messageOf } from '../errors.ts';
import { checkArguments, type RedisClient } from './client.ts';
import { RedisCommands } from './commands.ts';
import { GET, NEXT, PUT, REMOVE } from './dead-letter-scripts.ts';
import type { Script } from './script.ts';

/** Options of {@link createRedisDeadLetters}. */
export interface RedisDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The Redis store may have the same scope.
   */
  readonly scope: string;
}

const COMMAND_TIMEOUT_MS = 2_000;
const POSITION_KEPT_MS = 86_400_000;

/** How many letters are remembered by the place where a list had them. */
const REMEMBERED_PLACES = 1_000;

/** In the year 2255. The numbers of Redis are exact up to a thousand times that. */
const LAST_TIME_MS = 9_000_000_000_000;

/**
 * Keeps dead letters in Redis. They do not expire, and are as durable
 * as that Redis: with `appendonly no` it forgets them when it restarts. In a Cluster all letters of a scope
 * lie on one node. `list` can continue `after` a letter that was removed within the last day. Operations
 * reject with DeadLetterError.
 *
 * @throws ConfigurationError if the client is not one of ioredis 5 or 6, and for a wrong or missing scope.
 *
 * @example
 * ```ts
 * const deadLetters = createRedisDeadLetters(redis, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createRedisDeadLetters(redis: RedisClient, options: RedisDeadLettersOptions): DeadLetters {
  checkArguments('createRedisDeadLetters', redis, options, ['scope']);
  const { scope } = options;
  const commands = new RedisCommands(redis, COMMAND_TIMEOUT_MS);
  // No key of the store has a slash after its scope; the braces put the keys into one slot of a Cluster.
  const prefix = `${scope}/dead-letters{${scope}}`;
  const run = async (script: Script, member: string, ...values: string[]): Promise<readonly string[]> => {
    const keys = [`${prefix}:positions`, `${prefix}:letters`, `${prefix}:removed:${member}`];
    try {
      return await commands.run(script, keys, [member, ...values]);
    } catch (cause) {
      const message = `the dead letters of ${scope} in Redis failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };

  const places = new LRUCache<string, string>({ max: REMEMBERED_PLACES });

  return {
    async put(letter) {
      const parkedAt = Math.min(Math.trunc(letter.parkedAt), LAST_TIME_MS);
      await run(PUT, toKey(letter.id), serializeLetter(letter), String(parkedAt));
    },

    async get(id) {
      const [text] = await run(GET, toKey(id));
      return text === undefined ? undefined : readLetter(id, text);
    },

    async remove(id) {
      const [removed] = await run(REMOVE, toKey(id), String(POSITION_KEPT_MS));
      return removed === '1';
    },

    async *list({ after, limit = Number.POSITIVE_INFINITY } = {}) {
      const errors: unknown[] = [];
      const seen = new Set<string>();
      let last = after === undefined ? '' : toKey(after);
      // A letter that was parked anew has moved to the end: what counts is where it was seen.
      let lastPosition = places.get(last) ?? '';
      for (let count = 0; count < limit; ) {
        const [member, text, position] = await run(NEXT, last, lastPosition);
        if (member === undefined || text === undefined || position === undefined) break;
        last = member;
        lastPosition = position;
        // One that fails again and again in the hands of the reader would never let the list end.
        if (seen.has(member)) continue;
        seen.add(member);
        const letter = tryTo(() => readLetter(member, text), errors);
        if (letter === undefined) continue;
        count += 1;
        places.set(member, position);
        yield letter;
      }
      // One damaged letter must not hide the others, so the error comes after them.
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** Returns undefined instead of throwing, and adds the error to `errors`. */
function tryTo<T>(read: () => T, errors: unknown[]): T | undefined {
  try {
    return read();
  } catch (error) {
    errors.push(error);
    return undefined;
  }
}

function readLetter(name: string, text: string): DeadLetter {
  try {
    return parseLetter(text);
  } catch (cause) {
    throw new DeadLetterError(
      'dead_letter_unreadable',
      `the dead letter ${JSON.stringify(name)} in Redis cannot be read: repair it or remove it by its id`,
      { cause },
    );
  }
}
