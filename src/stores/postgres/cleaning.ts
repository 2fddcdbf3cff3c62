import { performance } from '../../receiver/timing/process-clock.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { Cleaning } from '../kit/cleaning.ts';
import { columnOf, type PostgresPool } from './client.ts';
import { withClient } from './connection.ts';
import { explain, isRefusal } from './errors.ts';

/** The rows of a batch. Only these are locked meanwhile. Of ids up to 10,000 a second are deleted. */
export const CLEANING_BATCH = 1_000;

interface PostgresCleaning {
  /** Quoted. */
  readonly schema: string;
  readonly limitMs: number;
  /** Deletes a batch, and returns the number of its rows as `deleted`. */
  readonly statement: string;
  readonly values: readonly unknown[];
  /** Names the rows, for the warning. */
  readonly rows: string;
}

/**
 * Creates the cleaning of a table. If PostgreSQL refuses it, a warning of the process says so once: all works
 * as before, while the table grows.
 */
export function createCleaning(pool: PostgresPool, cleaning: PostgresCleaning): Cleaning {
  const { schema, limitMs, statement, values, rows } = cleaning;
  let hasWarned = false;
  return new Cleaning({
    batchSize: CLEANING_BATCH,
    deleteBatch: async () => {
      const result = await withClient(pool, performance.now() + limitMs, (connection) =>
        connection.query(statement, [...values]),
      );
      return Number(columnOf(result, 'deleted'));
    },
    onFailure: (error) => {
      if (hasWarned || !isRefusal(error)) return;
      hasWarned = true;
      process.emitWarning(
        `posthorn cannot delete ${rows} from PostgreSQL: ${messageOf(explain(schema, error))}`,
      );
    },
  });
}
