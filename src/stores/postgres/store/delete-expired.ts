import { performance } from '../../../receiver/timing/process-clock.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { withClient } from '../connection.ts';
import { explain, isRefusal } from '../errors.ts';

/** Rows deleted at once: some hundredths of a second of work, during which only these rows are locked. */
const BATCH_SIZE = 1_000;

/** The pause after a full batch, which shows that there is more: up to 10,000 rows a second are deleted. */
const NEXT_BATCH_MS = 100;

/** The pause after any other batch, and after a failure. */
const NEXT_LOOK_MS = 60_000;

/**
 * Deletes expired rows. Operations call `cleanIfDue`, so that no timer keeps the process alive. Of several
 * processes one cleans at a time. If PostgreSQL refuses it, a warning of the process says so once: the store
 * works all the same, while its table grows. Any failure is followed by a further try.
 */
export class Cleaning {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #limitMs: number;
  /** At random, so that the processes of a deployment do not all clean at once. */
  #dueAt: number = performance.now() + Math.random() * NEXT_LOOK_MS;
  #hasWarned = false;

  /** `schema` is quoted. */
  constructor(pool: PostgresPool, schema: string, limitMs: number) {
    this.#pool = pool;
    this.#schema = schema;
    this.#limitMs = limitMs;
  }

  /** Deletes a batch in the background, if it is time. */
  cleanIfDue(): void {
    if (performance.now() < this.#dueAt) return;
    this.#dueAt = Number.POSITIVE_INFINITY;
    void this.#clean();
  }

  async #clean(): Promise<void> {
    let waitMs = NEXT_LOOK_MS;
    try {
      if ((await this.#deleteBatch()) === BATCH_SIZE) waitMs = NEXT_BATCH_MS;
    } catch (error) {
      if (isRefusal(error)) this.#warn(explain(this.#schema, error));
    }
    this.#dueAt = performance.now() + waitMs;
  }

  async #deleteBatch(): Promise<number> {
    const endsAt = performance.now() + this.#limitMs;
    const result = await withClient(this.#pool, endsAt, (connection) =>
      connection.query(`select ${this.#schema}.clean($1)::text as deleted`, [BATCH_SIZE]),
    );
    return Number(columnOf(result, 'deleted'));
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(`posthorn cannot delete expired ids from PostgreSQL: ${messageOf(error)}`);
  }
}
