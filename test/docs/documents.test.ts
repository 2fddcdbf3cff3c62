import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { documents, readme } from '../support/documents.ts';

describe('the README', () => {
  test('has 180 lines at most', () => {
    expect(readme.text.split('\n').length - 1).toBeLessThanOrEqual(180);
  });

  test('begins with the installation, and has what needs a clone under a heading of its own', () => {
    const [beginning = '', clone = ''] = readme.text.split(/^## From a clone$/m);
    const shell = (text: string) => text.match(/(?<=^```sh\n).*?(?=^```$)/gms) ?? [];
    expect(shell(beginning)[0]).toMatch(/^npm install posthorn\n/);
    expect(shell(beginning).join()).not.toMatch(/npm (ci|start|test|run)/);
    expect(shell(clone)).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
  });
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
    expect(named.length).toBeGreaterThan(250);
    expect(named.filter(({ name }) => !existsSync(join(packageRoot, name)))).toEqual([]);
  });

  test('a page of docs/ with a command of the repository says that it takes a clone', () => {
    const command = /npx\s+vitest\s+run\s+test|npm\s+(--prefix\s+bench\s+)?run\s|node\s+(bench|dist)\//;
    const pages = documents.filter(({ path, text }) => path.startsWith('docs/') && command.test(text));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.filter(({ text }) => !/\bclone\b/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test('the README leads to every page of docs/', () => {
    const pages = documents
      .map(({ path }) => path)
      .filter((path) => /^(docs\/|[A-Z]+\.md$)/.test(path) && path !== 'README.md');
    const leadsTo = (path: string): boolean =>
      [`](${path})`, `](${onGitHub(path)})`].some((link) => readme.text.includes(link));
    expect(pages.filter((path) => !leadsTo(path))).toEqual([]);
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

/** The address of a file that is not packed, for readers of the package. */
function onGitHub(path: string): string {
  return `https://github.com/posthorn/posthorn/blob/HEAD/${path}`;
}
