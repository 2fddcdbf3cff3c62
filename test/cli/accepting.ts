import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverPath } from '../stores/sqlite/driver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type Ended, posthorn } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

/** An event of the banking service, a minute old. */
export function eventOf(id: string, changes: object = {}): object {
  const created_at = new Date(Date.now() - 60_000).toISOString();
  return { id, type: 'transfer.succeeded', created_at, data: { id: `TR_${id}`, amount: 5 }, ...changes };
}

/** Writes a file of events, one on each line. A text or bytes are a line as they stand. */
export function writeEvents(lines: readonly (object | string | Buffer)[], name = 'events.jsonl'): string {
  const file = join(temporaryDirectory(), name);
  const ended = lines.flatMap((line) => [
    Buffer.isBuffer(line) || typeof line === 'string' ? line : JSON.stringify(line),
    '\n',
  ]);
  writeFileSync(file, Buffer.concat(ended.map((part) => Buffer.from(part))));
  return file;
}

/** The parts of a module that exports a receiver. */
export interface ModuleParts {
  /** The code of the store; by default one that forgets everything when the process ends. */
  readonly store?: string;
  /** Further options of the receiver, as code. */
  readonly options?: string;
  /** The code of the handlers, after `receiver`. */
  readonly handlers?: string;
}

/** A store in memory that does not look like one. */
const UNSHARED = '{ ...createMemoryStore() }';

/** The code of a store in a file of SQLite, which has the tables of posthorn. */
export function storeIn(path: string): string {
  return `createSqliteStore(new Database('${path}', { timeout: 5_000 }), { scope: 'accepting' })`;
}

/** Code of a module with a receiver whose handler fails for ids that contain `bad`. */
export function moduleOf({ store = UNSHARED, options = '', handlers }: ModuleParts = {}): string {
  return `${LETTERS_BESIDE}
    import { createMemoryStore } from 'posthorn';
    import { createSqliteStore } from 'posthorn/sqlite';
    import * as providers from 'posthorn/providers';
    import Database from '${driverPath}';
    export const receiver = createReceiver({ signingKey: 'k', store: ${store}, ${options} });
    receiver.observe(() => {});
    receiver${handlers ?? ".on('transfer.*', ({ id }) => { if (id.includes('bad')) throw new Error('no'); }, { name: 'book' })"};`;
}

/** Accepts a file with a receiver of its own. */
export async function acceptFile(
  file: string,
  args: readonly string[] = ['--yes'],
  parts: ModuleParts = {},
): Promise<Ended & { readonly receiver: string }> {
  const { file: receiver } = await writeModule(moduleOf(parts));
  const ended = await posthorn(['events', 'accept', file, '--receiver', receiver, ...args]);
  return { ...ended, receiver };
}

/** Writes events into a file, and accepts it. */
export function acceptEvents(
  lines: Parameters<typeof writeEvents>[0],
  args?: readonly string[],
  parts?: ModuleParts,
): ReturnType<typeof acceptFile> {
  return acceptFile(writeEvents(lines), args, parts);
}
