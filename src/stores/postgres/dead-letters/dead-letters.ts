import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../../receiver/errors.ts';
import { checkOptions, readDuration, readScope } from '../../../receiver/values/check-options.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { createOrderedList, readStoredLetter } from '../../kit/ordered-list.ts';
import { serializeLetter } from '../../kit/serialized-letter.ts';
import { checkPool, type PostgresPool, readSchema } from '../client.ts';
import { IS_LATE, limitsLockWait, PostgresStatements, type Row } from './operations.ts';

/** Options of {@link createPostgresDeadLetters}. */
export interface PostgresDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The PostgreSQL store may have the same scope.
   */
  readonly scope: string;
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string;
  /**
   * How long one operation may take before it counts as failed, in milliseconds; 5,000 by default. That
   * includes the wait for the pool.
   */
  readonly commandTimeoutMs?: number;
}

/**
 * Keeps dead letters in PostgreSQL. They do not expire. `list` can continue `after` a letter that was removed
 * within the last day. `migratePostgres` creates the table. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const deadLetters = createPostgresDeadLetters(pool, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createPostgresDeadLetters(
  pool: PostgresPool,
  options: PostgresDeadLettersOptions,
): DeadLetters {
  checkPool('createPostgresDeadLetters', pool);
  checkOptions(options, ['scope', 'schema', 'commandTimeoutMs'], 'createPostgresDeadLetters');
  const { commandTimeoutMs = 5_000 } = options;
  readDuration('commandTimeoutMs', commandTimeoutMs);
  const scope = readScope('createPostgresDeadLetters', options.scope);
  const schema = readSchema('createPostgresDeadLetters', options.schema);
  const statements = new PostgresStatements(pool, schema, commandTimeoutMs);
  const { put, get, remove, next } = actionsOn(`${schema}.dead_letters`, limitsLockWait(commandTimeoutMs));
  const run = async (action: string, ...values: unknown[]): Promise<Row | undefined> => {
    try {
      return await statements.run(action, [scope, ...values]);
    } catch (cause) {
      const message = `the dead letters of ${scope} in PostgreSQL failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };

  return {
    async put(letter) {
      const parkedAt = Math.min(Math.trunc(letter.parkedAt), Number.MAX_SAFE_INTEGER);
      await run(put, toKey(letter.id), parkedAt, serializeLetter(letter));
    },

    async get(id) {
      const found = await run(get, toKey(id));
      return found === undefined ? undefined : readStoredLetter('PostgreSQL', id, String(found.letter));
    },

    async remove(id) {
      return (await run(remove, toKey(id))) !== undefined;
    },

    list: createOrderedList('PostgreSQL', async (key, place) => {
      const [parkedAt = null, position = null] = place === '' ? [] : place.split('/');
      const found = await run(next, key, parkedAt, position);
      if (found === undefined) return undefined;
      return {
        key: String(found.key),
        text: String(found.letter),
        place: String(found.place),
      };
    }),
  };
}

/**
 * The actions; `limitsWait` is a condition that limits how long they wait for a lock. `$2` is the scope and
 * `$3` the key. A letter that is written in place of another keeps its position if both were parked in the
 * same millisecond. The row of a removed letter is kept for a day, for lists that continue after it.
 */
function actionsOn(table: string, limitsWait: string): Record<'put' | 'get' | 'remove' | 'next', string> {
  return {
    put: `action as (
insert into ${table} as present (scope, key, parked_at, letter)
select $2, $3, $4::bigint, $5::text where ${limitsWait} and not ${IS_LATE}
on conflict (scope, key) do update set
  parked_at = excluded.parked_at, letter = excluded.letter, removed_at = null,
  position = case
    when present.letter is not null and present.parked_at = excluded.parked_at then present.position
    else excluded.position
  end
where not ${IS_LATE}
returning true as found
)`,

    get: `action as (
select true as found, letter from ${table} where scope = $2 and key = $3 and letter is not null
)`,

    remove: `forgotten as (
  delete from ${table} where ctid = any (array(
    select ctid from ${table} where removed_at < now() - interval '1 day'
    order by removed_at limit 100 for update skip locked
  ))
), action as (
update ${table} set letter = null, removed_at = clock_timestamp()
where scope = $2 and key = $3 and letter is not null and ${limitsWait} and not ${IS_LATE}
returning true as found
)`,

    next: `action as (
select true as found, key, letter, parked_at || '/' || position as place from ${table}
where scope = $2 and letter is not null and (parked_at, position) > (
  coalesce($4::bigint, (select parked_at from ${table} where scope = $2 and key = nullif($3, '')), ${BEFORE_ALL}),
  coalesce($5::bigint, (select position from ${table} where scope = $2 and key = nullif($3, '')), 0)
)
order by parked_at, position limit 1
)`,
  };
}

/** The least bigint. */
const BEFORE_ALL = '(-9223372036854775808)::bigint';
