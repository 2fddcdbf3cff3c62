import { onTestFinished } from 'vitest';

/** Closes a queue, a worker or a receiver once the test is over, without waiting for what it handles. */
export function closedAtEnd<T extends { close(options: { readonly graceMs: number }): unknown }>(
  opened: T,
): T {
  onTestFinished(async () => void (await opened.close({ graceMs: 0 })));
  return opened;
}
