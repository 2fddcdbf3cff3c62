import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { PostgresPool } from '../client.ts';
import { withClient } from '../connection.ts';
import { explain, isRefusal } from '../errors.ts';

/** Rows deleted at once: some hundredths of a second of work, during which only these rows are locked. */
const BATCH_SIZE = 1_000;

/** When a full batch shows that there is more: up to 10,000 rows a second, far above what arrives. */
const NEXT_BATCH_MS = 100;

/** Otherwise. */
const NEXT_LOOK_MS = 60_000;

/**
 * Deletes expired rows. Operations call `cleanIfDue`, so that no timer keeps the process alive. Of several
 * processes one cleans at a time. A refusal is told once, as a warning of the process: the store works
 * without, while its table grows. Whatever else fails is tried again.
 */
export class Cleaning {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #limitMs: number;
  /** Not all processes at once after a deploy. */
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
    const { rows } = await withClient(this.#pool, endsAt, (client) =>
      client.query(`select ${this.#schema}.clean($1) as deleted`, [BATCH_SIZE]),
    );
    return Number(rows[0]?.deleted);
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(`posthorn cannot delete expired ids from PostgreSQL: ${messageOf(error)}`);
  }
}
