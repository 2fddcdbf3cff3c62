import { join } from 'node:path';
import type { Plugin } from 'rolldown';
import { bundle, SOURCES } from './bundle.js';
import type { SourceMistake } from './mistakes.ts';

/** Puts a mistake into its source. */
function withMistake({ file, find, replace }: SourceMistake): Plugin {
  return {
    name: 'with-mistake',
    transform: (code, id) => {
      if (id !== join(SOURCES, file)) return null;
      if (code.split(find).length !== 2) throw new Error(`${file} must contain this once: ${find}`);
      return code.replace(find, () => replace);
    },
  };
}

/** Bundles the exploration with the sources as they are, or with a mistake, and returns the program. */
export function buildSimulation(mistake?: SourceMistake): Promise<string> {
  return bundle('test/simulation/main.ts', mistake === undefined ? [] : [withMistake(mistake)]);
}

/** Bundles the random walks in the same way. */
export function buildWalks(mistake?: SourceMistake): Promise<string> {
  return bundle('test/simulation/walks/main.ts', mistake === undefined ? [] : [withMistake(mistake)]);
}

/** Bundles the exploration of the queue of one concurrency key in the same way. */
export function buildKeys(mistake?: SourceMistake): Promise<string> {
  return bundle('test/simulation/keys/main.ts', mistake === undefined ? [] : [withMistake(mistake)]);
}
