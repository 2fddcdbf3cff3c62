import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { ServerAnswer, ServerOperation } from '../../kit/server-store.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';
import { CLEAN_UP, CLEANING_INTERVAL, statementsOf } from '../../sqlite/store/statements.ts';
import type { D1Connection } from '../connection.ts';

/** Runs operations on ids, each in one round trip. */
export class D1Operations {
  readonly #connection: D1Connection;
  readonly #scope: string;

  constructor(connection: D1Connection, scope: string) {
    this.#connection = connection;
    this.#scope = scope;
  }

  /** Resolves with the answer to an operation. */
  async run(operation: ServerOperation): Promise<ServerAnswer> {
    return { text: await this.#connection.runInTime((lateAfter) => this.#runOnce(operation, lateAfter)) };
  }

  /**
   * The read comes along, because it would otherwise take a second round trip and not be in the transaction.
   */
  async #runOnce(operation: ServerOperation, lateAfter: number): Promise<string | undefined> {
    const { write, read, refusal } = statementsOf(this.#scope, operation, lateAfter);
    const statements = [write, refusal, read].filter((statement) => statement !== undefined);
    if (read === undefined) {
      await this.#connection.send(withCleaning(statements));
      return 'completed';
    }
    const rows = await this.#connection.send(statements);
    const found = rows.at(-1)?.[0];
    const written = write === undefined ? undefined : rows[0]?.[0];
    this.#connection.setTime(found);
    const result = String(propertyOf(written ?? found, 'result'));
    return result === 'late' ? undefined : result;
  }
}

/** By chance, because an isolate may see only a few events. */
function withCleaning(completion: readonly SqlStatement[]): readonly SqlStatement[] {
  return Math.random() * CLEANING_INTERVAL < 1 ? [...completion, ...CLEAN_UP] : completion;
}
