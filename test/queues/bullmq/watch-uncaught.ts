import { onTestFinished, vi } from 'vitest';
import { Seen } from '../../support/seen.ts';

/** What nobody catches, until the test ends. What cannot be put back is printed, too. */
export function watchUncaught(): readonly unknown[] {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  const uncaught = new Seen<unknown>();
  process.on('unhandledRejection', uncaught.add);
  onTestFinished(() => {
    process.off('unhandledRejection', uncaught.add);
    print.mockRestore();
  });
  return uncaught.all;
}
