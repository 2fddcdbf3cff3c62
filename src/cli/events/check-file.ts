import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { CommandError, usageError } from '../failure.ts';

/** Enough to see the first line of a file that is one JSON document on several lines. */
const HEAD_BYTES = 1_024;

/** Throws an error that says what to do if a file cannot hold events, one on each line. */
export function checkFile(file: string): void {
  if (file === '-')
    throw usageError(
      'the file is read twice, first to check it, so it cannot be stdin: give the name of a file',
    );
  const head = readHead(file)
    .replace(/^\uFEFF/, '')
    .trimStart();
  // A file may begin with empty lines.
  if (head === '' && statSync(file).size <= HEAD_BYTES)
    throw new CommandError(
      'failed',
      `${JSON.stringify(file)} has no events: look at the command that made it`,
    );
  if (head.startsWith('['))
    throw unreadable(file, "is a JSON array: write one event on each line, as `jq -c '.[]'` does");
  if (/^\{[ \t]*\r?\n/.test(head))
    throw unreadable(
      file,
      "is JSON on several lines: write one event on each line, as `jq -c .` does, or `jq -c '.data[]'` for a list",
    );
}

function readHead(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw unreadable(file, 'does not exist');
  if (stats.isDirectory()) throw unreadable(file, 'is a directory: name the file with the events');
  if (!stats.isFile()) throw unreadable(file, 'is not a regular file, and is read twice: first to check it');
  const bytes = Buffer.alloc(HEAD_BYTES);
  try {
    const descriptor = openSync(file, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw new CommandError('file_unreadable', `cannot read the file: ${messageOf(cause)}`, { cause });
  }
}

function unreadable(file: string, problem: string): CommandError {
  return new CommandError('file_unreadable', `${JSON.stringify(file)} ${problem}`);
}
