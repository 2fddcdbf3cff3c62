/** A value of a parameter. */
export type SqlValue = string | number | null;

/** A statement, and the values of its parameters. */
export interface SqlStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Returns how many rows the last statement has changed. */
export const CHANGED_ROWS: SqlStatement = { sql: 'select changes()', values: [] };
