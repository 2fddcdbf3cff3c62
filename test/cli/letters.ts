import type { DeadLetter } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { temporaryDirectory } from '../support/temporary-directory.ts';

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

/** Dead letters that were parked a minute apart, because a list is in the order of these times. */
export function inOrder(ids: readonly string[], firstAt: number = Date.now() - 3_600_000): DeadLetter[] {
  return ids.map((id, index) => letter(id, { parkedAt: firstAt + index * 60_000 }));
}

/** A directory with these dead letters, one file each. */
export async function directoryOf(letters: readonly DeadLetter[]): Promise<string> {
  const directory = temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  await Promise.all(letters.map((each) => deadLetters.put(each)));
  return directory;
}

/** The members of a summary in JSON, if the command took every dead letter. */
export const nothingSkipped = { running: 0, old: 0, missing: 0, more: false } as const;

/** The summary in JSON of a command that has replayed or dropped every dead letter, but for these members. */
export function summaryWith(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { kind: 'summary', dryRun: false, failed: 0, left: 0, ...nothingSkipped, ...members };
}
