import { afterEach, beforeEach, expect } from 'vitest';

/** Fails each test of the file that leaves a rejection unhandled: it would end the process. */
export function expectNoUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(typeof reason);
  beforeEach(() => void process.on('unhandledRejection', onUnhandled));
  afterEach(async () => {
    // Node.js tells of an unhandled rejection before the event loop turns.
    await new Promise(setImmediate);
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled.splice(0)).toEqual([]);
  });
}
