import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetter, DeadLetters } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Code of a module that has the letters which {@link writeModule} puts beside it, as `deadLetters`. */
export const LETTERS_BESIDE = `import { createReceiver } from 'posthorn';
  import { createFileDeadLetters } from 'posthorn/file';
  const deadLetters = createFileDeadLetters(new URL('letters', import.meta.url).pathname);`;

/** A module with a receiver, within the package so that it can import it by its name, and its letters. */
export async function writeModule(
  code: string,
  letters: readonly DeadLetter[] = [],
  name = 'receiver.js',
): Promise<{ file: string; deadLetters: DeadLetters }> {
  const directory = temporaryDirectory(join(packageRoot, 'dist'));
  const file = join(directory, name);
  writeFileSync(file, code);
  const deadLetters = createFileDeadLetters(join(directory, 'letters'));
  for (const item of letters) await deadLetters.put(item);
  return { file, deadLetters };
}
