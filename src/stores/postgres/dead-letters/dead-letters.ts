import * as z from 'zod/mini';
import { parseWithSchema } from '../../../receiver/checks/parse-with-schema.ts';
import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { createServerDeadLetters } from '../../kit/server-dead-letters.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { checkPool, type PostgresPool, readSchema } from '../client.ts';
import { explain } from '../errors.ts';
import { PostgresLetterOperations } from './operations.ts';
import { letterStatements } from './statements.ts';

/** Options of {@link createPostgresDeadLetters}. */
export interface PostgresDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The PostgreSQL store may have the same scope.
   */
  readonly scope: string;
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string | undefined;
  /**
   * The time after which an operation counts as failed, in milliseconds; 5,000 by default. That
   * includes the wait for the pool.
   */
  readonly commandTimeoutMs?: number | undefined;
}

const storedHeads = z.array(z.object({ key: z.string(), head: z.string(), place: z.string() }));

/**
 * Keeps dead letters in PostgreSQL. They do not expire. `list` can continue `after` one that was removed
 * within the last day. `migratePostgres` creates the table. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createPostgresDeadLetters } from 'posthorn/postgres';
 *
 * const deadLetters = createPostgresDeadLetters(pool, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createPostgresDeadLetters(
  pool: PostgresPool,
  options: PostgresDeadLettersOptions,
): DeadLetters {
  checkPool('createPostgresDeadLetters', pool);
  const names = ['scope', 'schema', 'commandTimeoutMs'];
  const { scope, commandTimeoutMs } = readServerOptions('createPostgresDeadLetters', options, 5_000, names);
  const schema = readSchema('createPostgresDeadLetters', options.schema);
  const operations = new PostgresLetterOperations(pool, commandTimeoutMs);
  const { put, get, remove, next, heads } = letterStatements(schema, commandTimeoutMs);
  const run = async (statement: string, ...values: unknown[]) => {
    try {
      return await operations.run(statement, [scope, ...values]);
    } catch (error) {
      throw explain(schema, error);
    }
  };

  return createServerDeadLetters('PostgreSQL', scope, {
    async put(key, text, parkedAt) {
      await run(put, key, Math.min(Math.trunc(parkedAt), Number.MAX_SAFE_INTEGER), text);
    },

    async get(key) {
      const found = await run(get, key);
      return found && { text: String(found.letter) };
    },

    async remove(key) {
      return (await run(remove, key)) !== undefined;
    },

    async next(key, place) {
      const found = await run(next, key, ...partsOf(place));
      return found && { key: String(found.key), text: String(found.letter), place: String(found.place) };
    },

    async heads(key, place, most) {
      const found = await run(heads, key, ...partsOf(place), most);
      return parseWithSchema(storedHeads, JSON.parse(String(found?.heads)), 'heads');
    },
  });
}

/** The moment and the position of a place, if there is one. */
function partsOf(place: string): readonly [string | null, string | null] {
  const [parkedAt = null, position = null] = place === '' ? [] : place.split('/');
  return [parkedAt, position];
}
