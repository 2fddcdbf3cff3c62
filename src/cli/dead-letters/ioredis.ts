import type { Redis } from 'ioredis';
import { CommandError, codeOf } from '../failure.ts';
import { ioredisVersions } from '../manifest.ts';

/** Loads ioredis, which is installed only where it is used, or says how to install it. */
export async function loadIoredis(): Promise<{ readonly Redis: typeof Redis }> {
  try {
    return await import('ioredis');
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError(
      'package_missing',
      `this needs the package ioredis, which is not installed: npm install "ioredis@${ioredisVersions}"`,
      { cause },
    );
  }
}
