import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeAtEnd } from './reaper.ts';

/** Names the folder of the run to its workers. */
const FOLDER = 'POSTHORN_TESTS_MADE_ONCE';
const PAUSE_MS = 50;
/** The worker that makes a folder may have been killed. */
const LIMIT_MS = 300_000;

/** Makes the folder of a run, which goes when this process ends. */
export function openMadeOnce(): void {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-made-once-'));
  removeAtEnd(folder);
  process.env[FOLDER] = folder;
}

/**
 * A folder that all files of a run share, of whichever workers. The first that needs it fills it, and the
 * others wait; if that fails, the next one tries. Nobody may change what is in it.
 */
export function madeOnce(name: string, fill: (folder: string) => void): string {
  const shared = process.env[FOLDER];
  if (shared === undefined) throw new Error('test/support/build.ts is not a globalSetup of these tests');
  const folder = join(shared, name);
  const done = `${folder}.done`;
  for (const endsAt = Date.now() + LIMIT_MS; !existsSync(done); ) {
    if (Date.now() > endsAt)
      throw new Error(`waited ${LIMIT_MS} ms in vain: ${name} is made by another worker`);
    // Of several that ask for a new folder, one is told that it has made it.
    if (mkdirSync(folder, { recursive: true }) === undefined) sleep(PAUSE_MS);
    else fillAs(folder, done, fill);
  }
  return folder;
}

function fillAs(folder: string, done: string, fill: (folder: string) => void): void {
  try {
    fill(folder);
    writeFileSync(done, '');
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** Those that start programs without awaiting them wait in the same way. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
