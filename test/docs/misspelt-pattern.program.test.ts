import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { snippetWith } from '../support/snippet.ts';

const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

const PAGE = 'docs/handlers.md';
const errorOfText = inOneLine(snippetWith('readonly Pattern[]', PAGE, 'text'));
const lastLineOfList = inOneLine(snippetWith('Did you mean', PAGE, 'text'));

const texts = ['transfer.suceeded', 'trasnfer.*', 'invented.created'];
/** Lists as code, with the text in it that is misspelt, and the nearest pattern. */
const lists = [
  { code: `['transfer.suceeded']`, misspelt: 'transfer.suceeded', nearest: 'transfer.succeeded' },
  { code: `['trasnfer.*']`, misspelt: 'trasnfer.*', nearest: 'transfer.*' },
  { code: `['transfer.created', 'dispute.win']`, misspelt: 'dispute.win', nearest: 'dispute.won' },
];
const patterns = [...texts.map((text) => `'${text}'`), ...lists.map(({ code }) => code)];

/** The lines of the compiler about each of them. */
let errors: readonly string[];

beforeAll(() => {
  // Inside the package, so that the file imports it by its name: what is built, not the sources.
  const folder = mkdtempSync(join(packageRoot, 'dist', 'misspelt-'));
  const lines = [
    `import { createReceiver } from 'posthorn';`,
    `const receiver = createReceiver({ signingKey: 'key' });`,
    ...patterns.map((code) => `receiver.on(${code}, ({ id, data }) => console.log(id, data.amount));`),
  ];
  writeFileSync(join(folder, 'receiver.ts'), lines.join('\n'));
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--types', 'node'];
  const args = [tsc, ...options, '--pretty', 'false', 'receiver.ts'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  errors = stdout.split(/^(?=receiver\.ts\()/m).map(inOneLine);
});

describe('a misspelt pattern', () => {
  test('is one error each: its handler has none', () => {
    const places = patterns.map((_, index) => `receiver.ts(${index + 3},13): error TS2345:`);
    expect(errors.map((error) => error.split(' ').slice(0, 3).join(' '))).toEqual(places);
  });

  test.each(texts)('%s has the error of the page', (text) => {
    const expected = errorOfText.replace('transfer.suceeded', text);
    expect(errors.filter((error) => error.endsWith(` TS2345: ${expected}`))).toHaveLength(1);
  });

  test.each(lists)('in a list, $code: the error ends with the nearest', ({ misspelt, nearest }) => {
    const expected = lastLineOfList
      .replace('"transfer.suceeded"', `"${misspelt}"`)
      .replace('"transfer.succeeded"', `"${nearest}"`);
    expect(errors.filter((error) => error.endsWith(` ${expected}`))).toHaveLength(1);
  });
});
