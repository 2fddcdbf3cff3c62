import { performance } from '../../../receiver/timing/process-clock.ts';
import { ServerClock } from '../../kit/server-clock.ts';
import type { PostgresPool, PostgresResult } from '../client.ts';
import { withClient } from '../connection.ts';
import { isTemporary, lateError } from '../errors.ts';
import { MAX_TRIES } from './statements.ts';

/** A row of a result. */
type Row = PostgresResult['rows'][number];

/**
 * Runs operations on dead letters under a time limit, after which they do nothing. Their writes are on the
 * disk once they are answered.
 */
export class PostgresLetterOperations {
  readonly #pool: PostgresPool;
  readonly #limitMs: number;
  readonly #clock: ServerClock;

  constructor(pool: PostgresPool, limitMs: number) {
    this.#pool = pool;
    this.#limitMs = limitMs;
    this.#clock = new ServerClock(limitMs);
  }

  /**
   * Runs one of the statements on dead letters; `values` are those from `$2` on. Resolves with the found row.
   */
  async run(statement: string, values: readonly unknown[]): Promise<Row | undefined> {
    const endsAt = performance.now() + this.#limitMs;
    const row = await this.#clock.runInTime(endsAt, () => this.#runOnce(statement, values, endsAt));
    if (row === undefined) throw lateError();
    return row.found === 'true' ? row : undefined;
  }

  /** Resolves with undefined if the server refused the operation as late. */
  async #runOnce(statement: string, values: readonly unknown[], endsAt: number): Promise<Row | undefined> {
    const { rows } = await this.#send(statement, values, endsAt);
    const [row] = rows;
    this.#clock.set(Number(row?.now));
    return row?.found !== 'true' && row?.late === 'true' ? undefined : row;
  }

  async #send(text: string, values: readonly unknown[], endsAt: number): Promise<PostgresResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        // Only now, because an answer that came during the wait for the client has brought a newer time.
        return await withClient(this.#pool, endsAt, (connection) =>
          connection.query(text, [this.#clock.lateAfter(endsAt), ...values]),
        );
      } catch (error) {
        if (!isTemporary(error) || tries === MAX_TRIES) throw error;
      }
    }
  }
}
