import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError } from './failure.ts';

/** The bytes of a file, or of stdin for `-`. */
export async function readInput(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Reads a file or stdin in parts, because it may be larger than the memory. */
export async function* readInputInParts(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown): CommandError {
  return new CommandError('file_unreadable', `cannot read the file: ${messageOf(cause)}`, { cause });
}
