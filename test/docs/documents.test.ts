import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type Document, documents, readDocument, readme } from '../support/documents.ts';

const LIST = 'docs/README.md';

test('the commands of the README begin with the installation, and those for a clone have a heading', () => {
  const [beginning = '', clone = ''] = readme.text.split(/^## From a clone$/m);
  const shell = (text: string) => text.match(/(?<=^```sh\n).*?(?=^```$)/gms) ?? [];
  expect(shell(beginning)[0]).toMatch(/^npm install posthorn\n/);
  expect(shell(beginning).join()).not.toMatch(/npm (ci|start|test|run)/);
  expect(shell(clone)).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
});

describe('what the documents say can be found', () => {
  test('every reference to a link has its definition', () => {
    const missing = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<=\S\])\[([\w-]+)\]/g)]
        .filter(([, name]) => !text.includes(`\n[${name}]: `))
        .map(([reference]) => `${path}: ${reference}`),
    );
    expect(missing).toEqual([]);
  });

  test('every file and folder that is named is there', () => {
    const named = documents.flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/`((?:src|adapters|examples|test|bench|tools|docs)\/[\w/.-]*)`/g),
        ([, name = '']) => ({ path, name }),
      ),
    );
    expect(named.length).toBeGreaterThan(150);
    const isThere = (name: string): boolean => existsSync(join(packageRoot, name));
    // `npm run api` writes docs/api, which is not in git.
    expect(named.filter(({ name }) => name !== 'docs/api/' && !isThere(name))).toEqual([]);
  });

  test('a page of docs/ with a command of the repository says that it takes a clone', () => {
    const command = /npx\s+vitest\s+run\s+test|npm\s+(--prefix\s+bench\s+)?run\s|node\s+(bench|dist)\//;
    const pages = documents.filter(({ path, text }) => path.startsWith('docs/') && command.test(text));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.filter(({ text }) => !/\bclone\b/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test('the README leads to the pages of the repository and to the list of docs/, and that to every page', () => {
    const paths = documents.map(({ path }) => path);
    const ofRoot = paths.filter((path) => /^[A-Z]+\.md$/.test(path) && path !== 'README.md');
    const leadsTo = ({ text }: Document, target: string): boolean => text.includes(`](${target})`);
    expect([...ofRoot, LIST].filter((path) => !leadsTo(readme, path))).toEqual([]);
    const ofDocs = paths.filter((path) => path.startsWith('docs/') && path !== LIST);
    const list = readDocument(LIST);
    expect(ofDocs.filter((path) => !leadsTo(list, path.replace('docs/', '')))).toEqual([]);
  });

  test('no line of prose is longer than 120 columns', () => {
    const long = documents.flatMap(({ path, text }) =>
      text
        .replace(/^```.*?^```$/gms, '')
        .split('\n')
        .filter((line) => line.length > 120 && !line.startsWith('|'))
        .map((line) => `${path}: ${line}`),
    );
    expect(long).toEqual([]);
  });
});
