import { pause } from '../../receiver/timing/process-clock.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** A second in all. A virus scanner or an indexer opens a new file for less. */
const TRIES = 50;
const PAUSE_MS = 20;

/** The codes with which Windows refuses to open, rename or remove a file that another program has open. */
const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];

/**
 * Runs an operation on a file. On Windows it is tried again while another program may have the file open; the
 * other systems never refuse it for that reason.
 */
export async function retryWhileInUse<Result>(operation: () => Promise<Result>): Promise<Result> {
  for (let left = process.platform === 'win32' ? TRIES : 1; ; left -= 1) {
    try {
      return await operation();
    } catch (cause) {
      if (left <= 1 || !IN_USE.includes(propertyOf(cause, 'code'))) throw cause;
    }
    await pause(PAUSE_MS);
  }
}
