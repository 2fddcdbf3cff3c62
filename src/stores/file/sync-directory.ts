import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Windows cannot sync a directory: `fsync` fails with EPERM, because the system flushes only what is open for
 * writing. NTFS writes the names to its journal by itself, some seconds later.
 */
function canSyncDirectories(): boolean {
  return process.platform !== 'win32';
}

/**
 * Returns a function that makes the names in a directory survive a power failure. A sync covers every change
 * made before it begins, so all calls during one sync share the next one.
 */
export function shareSyncs(root: string): () => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    current = syncDirectory(root);
    return current;
  };
  return () => {
    next ??= current.then(begin, begin);
    return next;
  };
}

async function syncDirectory(root: string): Promise<void> {
  if (!canSyncDirectories()) return;
  const directory = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Makes new directories survive a power failure, by syncing the parent of each, which holds its name. `first`
 * is the outermost of them, as `mkdirSync` returns it.
 */
export function syncNewDirectories(root: string, first: string): void {
  if (!canSyncDirectories()) return;
  let path = root;
  do {
    path = dirname(path);
    const parent = openSync(path, constants.O_RDONLY);
    fsyncSync(parent);
    closeSync(parent);
    // Not until they are equal: Windows has several forms of one path.
  } while (path.length > dirname(first).length);
}
