import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { PostgresResult } from '../../../stores/postgres/client.ts';
import type { QueueDatabase } from './database.ts';
import { queryResultOf } from './queryable.ts';
import { byOwnClock, byServerClock, FORGET_FUTURE_CHECK, isStalledCheck } from './server-time.ts';
import { QueueSession } from './session.ts';

/** Runs a statement for BullMQ. */
type Run = (text: string, values: readonly unknown[]) => Promise<PostgresResult>;

/** The pool of a queue as BullMQ takes it. BullMQ does not end a pool that it is given. */
export class BackendPool implements PgPool {
  readonly #database: QueueDatabase;
  readonly #run: Run;

  constructor(database: QueueDatabase, run: Run) {
    this.#database = database;
    this.#run = run;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<PgQueryResult<Row>> {
    if (isStalledCheck(text)) await this.#run(FORGET_FUTURE_CHECK, values.slice(0, 1));
    const timed = byServerClock(text, values);
    return byOwnClock(queryResultOf(await this.#run(timed.text, timed.values)));
  }

  async connect(): Promise<PgPoolClient> {
    return new QueueSession(this.#database);
  }

  async end(): Promise<void> {}

  on(): this {
    return this;
  }

  removeAllListeners(): this {
    return this;
  }
}
