import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import { CommandError, codeOf } from './failure.ts';

// Above dist/src/cli, where this file is built to.
const manifest = z
  .object({ version: z.string(), peerDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')));

/** The version of this package. */
export const version: string = manifest.version;

/**
 * Imports what needs packages that are installed only where they are used; throws a {@link CommandError} that
 * says how to install the one that is missing.
 *
 * @example
 * ```ts
 * const { Redis } = await loadWithPeers(() => import('ioredis'));
 * ```
 */
export async function loadWithPeers<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const name = missingPackage(cause);
    const range = name === undefined ? undefined : manifest.peerDependencies[name];
    if (range === undefined) throw cause;
    throw new CommandError(
      'package_missing',
      `this needs the package ${name}, which is not installed: npm install "${name}@${range}"`,
      { cause },
    );
  }
}

function missingPackage(error: unknown): string | undefined {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') return undefined;
  return /^Cannot find package '([^']+)'/.exec(messageOf(error))?.[1];
}
