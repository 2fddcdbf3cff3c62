import type { Report } from 'posthorn';
import { expect } from 'vitest';

/** An error as an assertion wants it: its code, and some words or a pattern of its message. */
export function errorOf(
  code: string,
  message: string | RegExp,
): { readonly code: string; readonly message: unknown } {
  const matches =
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message);
  return { code, message: matches };
}

/** Expects that a delivery has failed for this reason. */
export function expectCause(report: Report | undefined, code: string, message: string | RegExp): void {
  expect(report?.error?.cause).toMatchObject(errorOf(code, message));
}
