import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeadLetters } from 'posthorn';
import { snippetWith } from '../support/snippet.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Moves all letters. */
export type Move = (from: DeadLetters, to: DeadLetters) => Promise<void>;

/** The lines of docs/moving.md that move letters, as a function. */
export async function moveOfPage(): Promise<Move> {
  const [lines] = /^for await [\s\S]*?^}/m.exec(snippetWith('from.list()', 'docs/moving.md')) ?? [];
  const file = join(temporaryDirectory(), 'move.mjs');
  writeFileSync(file, `export async function move(from, to) {\n${lines}\n}\n`);
  const { move } = await import(pathToFileURL(file).href);
  return move;
}
