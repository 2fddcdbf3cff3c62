import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');

function filesIn(folder: string, end: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

/** The names that the package exports, each with the subpaths that it can be imported from. */
const subpaths = new Map<string, string[]>();
for (const report of filesIn('tools/api/report', '.api.md')) {
  const page = basename(report, '.api.md');
  const subpath = page === 'posthorn' ? page : `posthorn/${page}`;
  for (const [, name = ''] of read(report).matchAll(/^export (?:[a-z]+ )*(\w+)/gm))
    subpaths.set(name, [...(subpaths.get(name) ?? []), subpath]);
}

interface Example {
  readonly title: string;
  readonly code: string;
  /** The export that the doc comment stands before; undefined before a member. */
  readonly symbol: string | undefined;
}

function examplesIn(file: string): Example[] {
  const comments = read(file).matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/(?:\s*\/\/.*)*\s*(.*)/g);
  return Array.from(comments, ([comment, declaration = '']) => {
    const [, lines = ''] = /@example\n *\* ```ts\n([\s\S]*?) *\* ```/.exec(comment) ?? [];
    const [, symbol] = /^export (?:[a-z]+ )*(\w+)/.exec(declaration) ?? [];
    const [name = ''] = declaration.split(/[<(:]/);
    return { title: `${file}: ${name}`, code: lines.replace(/^ *\* ?/gm, ''), symbol };
  }).filter(({ code }) => code !== '');
}

const examples = ['src', 'adapters'].flatMap((folder) => filesIn(folder, '.ts').flatMap(examplesIn));

/** The names that a program imports, each with its module. */
function importsOf(code: string): Map<string, string> {
  const imports = new Map<string, string>();
  for (const [, clause = '', module = ''] of code.matchAll(/^import (.+?) from '([^']+)';$/gm))
    for (const [name] of clause.replace(/\btype\b/g, '').matchAll(/\w+/g)) imports.set(name, module);
  return imports;
}

/** The names that stand alone in a program, not in a text or a comment, nor as a member or a key. */
function namesIn(code: string): string[] {
  const bare = code.replace(/^import .*$|\/\/.*$|'[^']*'/gm, '');
  return Array.from(bare.matchAll(/(?<![.\w])[A-Za-z]\w*\b(?!\s*:)/g), ([name]) => name);
}

test('there are examples, and exports', () => {
  expect(examples.length).toBeGreaterThan(50);
  expect(subpaths.get('createReceiver')).toEqual(['posthorn']);
});

test.each(examples.map((example) => [example.title, example] as const))(
  'the example imports what it uses, %s',
  (_title, { code, symbol }) => {
    const imports = importsOf(code);
    const names = namesIn(code);
    const isWrong = (name: string) => subpaths.get(name)?.includes(imports.get(name) ?? '') === false;
    expect(names.filter(isWrong), 'not imported from its subpath').toEqual([]);
    const created = Array.from(code.matchAll(/\bnew (\w+)\(/g), ([, name = '']) => name);
    expect(
      created.filter((name) => !imports.has(name)),
      'a class that is not imported',
    ).toEqual([]);
    expect(
      [...imports.keys()].filter((name) => !names.includes(name)),
      'imported in vain',
    ).toEqual([]);
    if (symbol !== undefined) expect([...imports.keys()]).toContain(symbol);
  },
);
