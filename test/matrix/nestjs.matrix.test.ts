import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectBookedBeforeEnd } from '../nestjs/stop-ledger.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { startProgram } from '../support/child-program.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';

const sources = join(import.meta.dirname, 'projects', 'nestjs');
const ledger = join(import.meta.dirname, '..', 'nestjs', 'programs', 'ledger.ts');

/** The packages of a project besides NestJS, whose types name those of Express. */
const others = [
  ...['reflect-metadata@0.2', 'rxjs@7', 'pg@8', 'typescript@5.9'],
  ...['@types/express@5', '@types/node@20', '@types/pg@8'],
];

/** NestJS 12 is ESM only: a CommonJS project loads it by require(esm). */
const versions = [
  { version: '11.1.4', terminus: '11', formats: ['commonjs'] },
  { version: '11', terminus: '11', formats: ['commonjs', 'module'] },
  { version: '12', terminus: '12', formats: ['module', 'commonjs'] },
];

/** Compilers and runners of tests that NestJS 11 has in its projects. */
const tools = ['@swc/core@1', 'jest@30', 'ts-jest@29', '@types/jest@30'];

const database = useDatabase();

describe.each(versions)('NestJS $version', ({ version, terminus, formats }) => {
  let installed: InstalledPackage;

  beforeAll(() => {
    const nest = ['common', 'core', 'microservices', 'platform-express', 'platform-fastify', 'testing'];
    const packages = [
      ...nest.map((name) => `@nestjs/${name}@${version}`),
      ...[`@nestjs/terminus@${terminus}`, ...others, ...(version === '11' ? tools : [])],
    ];
    installed = installPackage(`npm install posthorn ${packages.join(' ')}`);
    createProject(installed.project, formats);
    installed.run('node_modules/.bin/tsc', ['-p', '.']);
  });

  afterAll(() => installed.remove());

  /** The lines that a program prints on its standard output. */
  const linesOf = (folder: string, name: string): readonly string[] =>
    installed
      .run('node', [join(folder, `${name}.js`)])
      .trim()
      .split('\n');

  describe.each(formats)('in a project of the type %s', (format) => {
    test('receives events, tells its health, and ends deliveries before pools close', () => {
      expect(linesOf(format, 'main')).toEqual(linesOfMain);
    });

    test('runs a worker that starts after all else and closes before all else', () => {
      expect(linesOf(format, 'worker')).toEqual([
        'the pool opens',
        'the worker starts, closing false',
        'the worker closes, closing false',
        'the queue closes',
        'the pool closes',
      ]);
    });

    test('runs in a microservice, and in an application that is also one', () => {
      expect(linesOf(format, 'microservice')).toEqual([
        ...['handled transfer.succeeded', 'microservice 200'],
        ...['handled transfer.failed', 'hybrid 200'],
      ]);
    });

    test('does not start with a handler that would never run', () => {
      expect(linesOf(format, 'refusals').map((line) => line.slice(0, 72))).toEqual([
        expect.stringMatching(/^empty: the receiver of \/webhooks has no handler,/),
        expect.stringMatching(/^forgotten: NestJS has no provider for the class of @OnWebhook of Paymen/),
        expect.stringMatching(/^misspelt: @OnWebhook of Payments\.book: "transfers\.\*" matches no event/),
        expect.stringMatching(/^request: @OnWebhook of Payments\.book is on a provider of the scope REQ/),
        expect.stringMatching(/^transient: @OnWebhook of Payments\.book is on a provider of the scope T/),
        expect.stringMatching(/^other: @OnWebhook of Payments\.book is for the receiver "another", whic/),
      ]);
    });

    test('a program with such a mistake ends with the exit code 1, and prints the error', async () => {
      const program = startProgram(join(format, 'refusals.js'), {}, installed.project, ['default']);
      expect(await program.exit).toBe(1);
      expect(program.lines.join('\n')).toContain(
        'ConfigurationError: the receiver of /webhooks has no handler',
      );
    });
  });

  test.each(['Express', 'Fastify'] as const)(
    'on %s SIGTERM in the middle of a delivery lets it end, and only then does the pool close',
    (server) => {
      const program = join(installed.project, formats[0] ?? '', 'ledger.js');
      return expectBookedBeforeEnd(program, installed.project, database, server);
    },
  );

  if (version !== '11') return;

  describe('with the compilers of its projects,', () => {
    test('SWC, with and without the types of parameters', () => {
      installed.run('node', ['swc.mjs']);
      expect(linesOf('swc-metadata', 'main')).toEqual(linesOfMain);
      for (const folder of ['swc', 'swc-metadata', 'commonjs'])
        expect(linesOf(folder, 'explicit')).toEqual(['200 transfer.succeeded, closing false']);
    });

    test('ts-jest, in a testing module without a server', () => {
      expect(installed.run('node_modules/.bin/jest', ['--json'])).toMatch('"numPassedTests":1');
    });
  });
});

/** Lays out the programs in a folder for each type of project. */
function createProject(project: string, formats: readonly string[]): void {
  for (const name of ['tsconfig.json', 'jest.config.js', 'swc.mjs'])
    cpSync(join(sources, name), join(project, name));
  const programs = readdirSync(sources).filter((name) => name.endsWith('.ts'));
  for (const format of formats) {
    mkdirSync(join(project, format));
    writeFileSync(join(project, format, 'package.json'), JSON.stringify({ type: format }));
    for (const name of programs) cpSync(join(sources, name), join(project, format, name));
    cpSync(ledger, join(project, format, 'ledger.ts'));
  }
}

/** The lines of `main.ts`, in every version. */
const linesOfMain = ['express', 'fastify'].flatMap((server) =>
  [false, true].flatMap((rawBody) =>
    ['listen', 'init'].flatMap((start) => [
      `${server}, rawBody ${rawBody}, ${start}`,
      'handled transfer.succeeded',
      '200 processed',
      'unhandled dispute.created, known true',
      '200 processed',
      '403 signature_mismatch',
      'echo {"a":[1]}',
      'health 200 {"webhooks":{"status":"up"}}',
      'health 503 {"webhooks":{"status":"down"}}',
      'refused 503',
      'handled transfer.failed',
      'answered 200',
      ...['a pool closes', 'a pool closes', 'a pool closes'],
    ]),
  ),
);
