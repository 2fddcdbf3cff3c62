import { ConfigurationError } from '../../receiver/errors.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** The parts of a D1 database, as a Worker gets it in `env`, that posthorn uses. */
export interface D1Binding {
  /** Compiles one statement. */
  prepare(sql: string): D1Statement;
  /** Runs statements in one transaction, in one round trip. */
  batch(statements: D1Statement[]): Promise<readonly D1Result[]>;
}

/** The part of a statement of D1 that posthorn uses. */
export interface D1Statement {
  /** Returns the statement with the values of its parameters. */
  bind(...values: (string | number | null)[]): D1Statement;
}

/** The part of a result of D1 that posthorn uses. */
export interface D1Result {
  /** The rows, as objects. */
  readonly results: readonly unknown[];
}

/** Throws {@link ConfigurationError} unless `binding` is a D1 database. */
export function checkBinding(functionName: string, binding: D1Binding): void {
  if (['prepare', 'batch'].every((name) => typeof propertyOf(binding, name) === 'function')) return;
  throw new ConfigurationError(
    `${functionName} takes a D1 database, which a Worker gets in its env: env.DB, if ` +
      'd1_databases of the wrangler configuration has the binding "DB"',
  );
}
