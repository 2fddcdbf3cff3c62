import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

/** A block of code. */
export interface Block {
  readonly language: string;
  readonly code: string;
}

/** A page in Markdown. */
export interface Document {
  /** Relative to the root of the package. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function readDocument(path: string): Document {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const blocks = [...text.matchAll(/^```(\S*)\n(.*?)^```$/gms)];
  return { path, text, blocks: blocks.map(([, language = '', code = '']) => ({ language, code })) };
}

const pagesIn = (folder: string): readonly string[] =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);

/** All pages that a person has written: a program writes docs/api, which is not in git. */
export const documents: readonly Document[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...pagesIn('docs').filter((path) => !path.startsWith('docs/api/')),
  ...pagesIn('src'),
  'test/docs/followed-event/README.md',
  'test/faults.md',
  'test/service/interface-coverage.md',
  'test/simulation/README.md',
].map(readDocument);

export const readme: Document = readDocument('README.md');
