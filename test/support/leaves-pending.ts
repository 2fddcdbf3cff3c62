import { tests } from './running-test.ts';

/** Lets the test leave operations pending that have a time limit. Say why nobody is harmed by their end. */
export function leavesPending(why: string): void {
  const test = tests.getStore();
  if (test !== undefined) test.leavesPendingWhy = why;
}
