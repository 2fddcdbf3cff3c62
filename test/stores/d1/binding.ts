import type { D1Binding, D1Result, D1Statement } from 'posthorn/d1';
import { unanswered } from '../../support/unanswered.ts';
import type { Connection } from '../sqlite/connection.ts';

/** https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_VALUE_BYTES = 2_000_000;
const MAX_PARAMETERS = 100;

class LocalStatement implements D1Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];

  constructor(sql: string, values: readonly (string | number | null)[] = []) {
    this.sql = sql;
    this.values = values;
  }

  bind(...values: (string | number | null)[]): D1Statement {
    if (values.length > MAX_PARAMETERS) throw new Error('D1_ERROR: too many SQL variables: SQLITE_ERROR');
    for (const value of values)
      if (typeof value === 'string' && Buffer.byteLength(value) > MAX_VALUE_BYTES)
        throw new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG');
    return new LocalStatement(this.sql, values);
  }
}

/** A failure of a batch, before or after its statements have run. */
export type Fault = (run: () => readonly D1Result[]) => Promise<readonly D1Result[]>;

/**
 * D1 as a Worker sees it, on a connection of libsql: a batch is a transaction, and its rows are
 * objects. The real binding, in workerd, runs in test/matrix/d1.matrix.test.ts; this one has faults.
 */
export class LocalD1 implements D1Binding {
  readonly #connection: Connection;
  /** Chooses what goes wrong with the next batch. */
  nextFault: () => Fault | undefined = () => undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  prepare(sql: string): D1Statement {
    return new LocalStatement(sql);
  }

  async batch(statements: D1Statement[]): Promise<readonly D1Result[]> {
    const run = () => this.#run(statements);
    const fault = this.nextFault();
    return fault === undefined ? run() : fault(run);
  }

  #run(statements: readonly D1Statement[]): readonly D1Result[] {
    this.#connection.exec('begin immediate');
    try {
      const results = statements.map((statement) => this.#rowsOf(statement));
      this.#connection.exec('commit');
      return results;
    } catch (error) {
      this.#connection.exec('rollback');
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`D1_ERROR: ${reason}: SQLITE_ERROR`, { cause: error });
    }
  }

  #rowsOf(statement: D1Statement): D1Result {
    if (!(statement instanceof LocalStatement)) throw new TypeError('not a statement of this binding');
    const prepared = this.#connection.prepare(statement.sql);
    const returnsRows = /^select|\breturning\b/.test(statement.sql);
    if (returnsRows) return { results: prepared.all(...statement.values) };
    prepared.run(...statement.values);
    return { results: [] };
  }
}

export const connectionLost = (): Error => new Error('D1_ERROR: Network connection lost.');

/** The faults of the documentation, and one that it does not name: no answer at all. */
export const faults: Readonly<Record<string, Fault>> = {
  'the connection is lost before the write': () => Promise.reject(connectionLost()),
  'the answer is lost after the write': async (run) => {
    run();
    throw connectionLost();
  },
  throttled: () => Promise.reject(new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')),
  reset: async (run) => {
    run();
    throw new Error('D1_ERROR: D1 DB reset because its code was updated.');
  },
};

/** Never answers, after the write or without it. */
export const silent =
  (wasWritten: boolean): Fault =>
  (run) => {
    if (wasWritten) run();
    return unanswered();
  };

/** Is written once `release` resolves, whose caller may have given up by then. */
export const delayed =
  (release: Promise<void>): Fault =>
  async (run) => {
    await release;
    return run();
  };
