/** A value of a parameter. */
export type SqlValue = string | number | null;

/** A statement, and the values of its parameters. */
export interface SqlStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A thousand years. */
const LONGEST_MS = 31_556_952_000_000;

/** A duration for a column of whole numbers. */
export function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), LONGEST_MS);
}
