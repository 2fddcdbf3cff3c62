import { ServerClock } from '../../kit/server-clock.ts';
import type { PostgresPool, PostgresResult } from '../client.ts';
import { lateError, withClient } from '../connection.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { explain, isConflict } from '../errors.ts';

/** A row of a result. */
export type Row = PostgresResult['rows'][number];

/** In the text of an action: whether its caller has given up by now. */
export const IS_LATE = 'clock_timestamp() > to_timestamp($1::float8 / 1000)';

/** How often a statement is sent that PostgreSQL refuses for the sake of another transaction. */
const MAX_TRIES = 5;

/**
 * A condition that holds, for the WHERE of an action that locks a row. PostgreSQL comes to the lock once all
 * of WHERE holds, so by then the transaction waits no longer than this says: a caller that has given up must
 * not leave a process behind that waits.
 */
export function limitsLockWait(limitMs: number): string {
  return `set_config('lock_timeout', '${Math.ceil(limitMs / MAX_TRIES)}', true) is not null`;
}

/**
 * Runs single statements under a time limit, after which they do nothing. Their writes are on the disk once
 * they are answered.
 */
export class PostgresStatements {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #limitMs: number;
  readonly #clock: ServerClock;

  /** `schema` is quoted. */
  constructor(pool: PostgresPool, schema: string, limitMs: number) {
    this.#pool = pool;
    this.#schema = schema;
    this.#limitMs = limitMs;
    this.#clock = new ServerClock(limitMs);
  }

  /**
   * Runs an action, and resolves with its row or undefined. It is given as queries of a WITH clause, of
   * which the one named `action` returns at most one row, with a column `found` that is true. `$1` is the
   * time limit: {@link IS_LATE} has it.
   */
  async run(action: string, values: readonly unknown[]): Promise<Row | undefined> {
    const endsAt = performance.now() + this.#limitMs;
    try {
      // The server refuses an action wrongly if its clock has jumped or another server has taken over. Its
      // answer brought the new time, so the second try is right.
      const row = (await this.#call(action, values, endsAt)) ?? (await this.#call(action, values, endsAt));
      if (row === undefined) throw lateError();
      return row.found === true ? row : undefined;
    } catch (error) {
      throw explain(this.#schema, error);
    }
  }

  /** Resolves with undefined if the server refused the action as late. */
  async #call(action: string, values: readonly unknown[], endsAt: number): Promise<Row | undefined> {
    const text = `
with ${action}
select extract(epoch from clock_timestamp()) * 1000 as now, ${IS_LATE} as late, ${DURABLE_COMMIT}, action.*
from (values (1)) as one left join action on true`;
    const { rows } = await this.#send(text, values, endsAt);
    const [row] = rows;
    this.#clock.set(Number(row?.now));
    return row?.found !== true && row?.late === true ? undefined : row;
  }

  async #send(text: string, values: readonly unknown[], endsAt: number): Promise<PostgresResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await withClient(this.#pool, endsAt, (client) =>
          client.query(text, [this.#clock.latest(endsAt), ...values]),
        );
      } catch (error) {
        if (!isConflict(error) || tries === MAX_TRIES) throw error;
      }
    }
  }
}
