import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadLetter } from 'posthorn';
import { onTestFinished } from 'vitest';

/**
 * A directory that is removed with the test. Below `parent`, for modules that import this package by its
 * name.
 */
export function temporaryDirectory(parent: string = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'posthorn-cli-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A parked event of the given id. */
export function letter(id: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  const type = changes.type ?? 'transfer.succeeded';
  const created_at = new Date().toISOString();
  return {
    id,
    type,
    reason: 'handler_failed',
    message: 'a handler failed: out of order',
    rawBody: Buffer.from(JSON.stringify({ id, type, created_at, data: { amount: 5 } })),
    headers: { 'content-type': ['application/json'] },
    receivedAt: Date.now(),
    parkedAt: Date.now(),
    attempts: 4,
    handled: [],
    ...changes,
  };
}
