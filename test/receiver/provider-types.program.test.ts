import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/** Inside the package, so that files import it by its name: what is built, not the sources. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(packageRoot, 'dist', 'provider-types-'));
  cpSync(join(packageRoot, 'test', 'receiver', 'wide-union.ts'), join(folder, 'wide-union.ts'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Compiles a file; returns what the compiler printed. */
function compile(name: string, lines: readonly string[], ...options: readonly string[]): string {
  writeFileSync(join(folder, `${name}.ts`), lines.join('\n'));
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const usual = [
    '--strict',
    '--skipLibCheck',
    '--types',
    'node',
    '--module',
    'nodenext',
    '--pretty',
    'false',
  ];
  const imports = ['--rewriteRelativeImportExtensions', '--target', 'es2023'];
  const args = [tsc, '--ignoreConfig', ...usual, ...imports, ...options, `${name}.ts`];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
}

const head = [
  `import { createReceiver, type Provider, type Receiver } from 'posthorn';`,
  `import type { WideEvent } from './wide-union.ts';`,
  'declare const provider: Provider<WideEvent>;',
];
const options = `{ provider, signingKey: 'key' }`;

test('a receiver of 275 events and three patterns needs few instantiations of types', () => {
  const printed = compile(
    'patterns',
    [
      ...head,
      `const receiver = createReceiver(${options});`,
      `receiver.on('thing_0_0.created', (event) => console.log(event.data.object.of));`,
      `receiver.on('thing_1_1.line.*', (event) => console.log(event.data.object.of));`,
      `receiver.on(['thing_2_2.updated', 'thing_3_3.deleted'], (event) => console.log(event.data.object.of));`,
    ],
    '--noEmit',
    '--extendedDiagnostics',
  );
  expect(printed).not.toContain('error');
  const [, count] = /^Instantiations:\s+(\d+)$/m.exec(printed) ?? [];
  // A map over all events for each pattern would take several times as many.
  expect(Number(count)).toBeGreaterThan(1_000);
  expect(Number(count)).toBeLessThan(15_000);
});

test('a receiver of any provider can be exported from a module whose declarations are emitted', () => {
  const printed = compile(
    'declared',
    [
      ...head,
      `export const receiver = createReceiver(${options});`,
      `export const chained = createReceiver(${options}).on('thing_0_0.created', () => {});`,
      `export const usual = createReceiver({ signingKey: 'key' });`,
    ],
    '--declaration',
    '--emitDeclarationOnly',
  );
  expect(printed).toBe('');
  const declared = readFileSync(join(folder, 'declared.d.ts'), 'utf8');
  const wide = 'Receiver<Record<never, never>, WideEvent>';
  expect(declared).toContain(`export declare const receiver: ${wide};`);
  expect(declared).toContain(`export declare const chained: ${wide};`);
  expect(declared).toMatch(
    /export declare const usual: Receiver<Record<never, never>, import\("posthorn"\)\.KnownEvent>;/,
  );
});

test('with isolatedDeclarations it is exported with its type', () => {
  const type = 'Receiver<Record<never, never>, WideEvent>';
  const isolated = ['--declaration', '--isolatedDeclarations', '--noEmit'];
  const lines = (annotation: string) => [
    ...head,
    `export const receiver${annotation} = createReceiver(${options});`,
    'export type { Receiver };',
  ];
  expect(compile('isolated', lines(`: ${type}`), ...isolated)).toBe('');
  expect(compile('bare', lines(''), ...isolated)).toContain('--isolatedDeclarations');
});
