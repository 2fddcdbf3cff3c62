import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { Servers as PostgresServers } from '../stores/postgres/servers.ts';
import { Servers } from '../stores/redis/servers.ts';
import { startSnippetServers } from '../stores/redis/snippet-servers.ts';
import { standInPath } from '../stores/sqlite/driver.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { documents } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { snippetWith } from '../support/snippet.ts';
import {
  expectDeliveries,
  expectImported,
  inMatrix,
  ofPages,
  ofReadme,
  printedBy,
  snippets,
  starterIn,
} from './snippets.ts';

const { servers, nestModules, modules, testFiles, programs } = ofPages;

// Inside the package, so that the snippets import it by its name: what is built, not the sources.
const folder = join(packageRoot, 'dist', 'readme');
const out = join(folder, 'out');
const ports = new Map<string, number>();
const redisServers = new Servers();
let directory: string;
const postgresServers = new PostgresServers();
let postgresUrl: string | undefined;
let compilerSays: readonly string[];
let programsRun: ChildProgram;
let modulesRun: ChildProgram;
let nestModulesRun: ChildProgram;
let serversRun: ChildProgram;

beforeAll(async () => {
  const { replaceHosts, url } = await startSnippetServers(redisServers);
  const postgres = await postgresServers.single();
  postgresUrl = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
  const createLedger = snippetWith('create table ledger', 'docs/postgres.md', 'sh');
  execFileSync('sh', ['-c', createLedger], { env: { ...process.env, POSTGRES_URL: postgresUrl } });
  directory = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(standInPath, join(folder, 'node_modules', 'better-sqlite3'));
  for (const { name, code } of snippets) {
    const port = await freePort();
    ports.set(name, port);
    writeFileSync(join(folder, `${name}.ts`), replaceHosts(code.replaceAll('3000', String(port))));
  }
  compilerSays = compile();
  const start = starterIn(out, directory, { REDIS_URL: url, POSTGRES_URL: postgresUrl });
  programsRun = start('program', programs);
  modulesRun = start('module', modules);
  nestModulesRun = start('NestJS', nestModules);
  serversRun = start('server', servers);
}, 600_000);

afterAll(async () => {
  serversRun?.kill('SIGKILL');
  await Promise.all([redisServers.stop(), postgresServers.stop()]);
  rmSync(directory, { recursive: true });
});

const compilation = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    // The types of Hono need those of a browser, and those of drizzle-orm want the drivers of all databases.
    skipLibCheck: true,
    noUncheckedIndexedAccess: true,
    // As in a project that `nest new` creates.
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    isolatedModules: true,
    // As in test/tsconfig.json.
    paths: {
      'content-disposition': [join(packageRoot, 'node_modules/@types/content-disposition/index.d.ts')],
    },
    rootDir: '.',
    outDir: 'out',
  },
  include: ['*.ts'],
};

/** Compiles all snippets at once; returns a line for each error: `adapters-2.ts(3,14): error TS2345: …`. */
function compile(): readonly string[] {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilation));
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = stdout.split('\n').filter((line) => line !== '');
  return status === 0 || errors.length > 0 ? errors : [`tsc ended with ${status}`];
}

describe('the snippets of the README and of docs/ compile and run', () => {
  test('there are some of each kind', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(15);
    expect(servers.length).toBeGreaterThanOrEqual(3);
    expect(modules.length).toBeGreaterThanOrEqual(1);
    expect(nestModules.length).toBeGreaterThanOrEqual(3);
    expect(testFiles.length).toBe(3);
    const ofOtherKinds = [...ofReadme.nestModules, ...ofReadme.testFiles, ...ofReadme.programs];
    expect(ofOtherKinds, 'the first layer runs none of these').toEqual([]);
    expect(programs.length).toBeGreaterThanOrEqual(5);
    const ofMatrix = documents.flatMap(({ blocks }) => blocks.filter(({ code }) => inMatrix.test(code)));
    expect(ofMatrix, 'because test/matrix takes it by the package').toHaveLength(1);
  });

  test('no snippet hides in a block of another language', () => {
    const languages = documents.flatMap(({ blocks }) => blocks.map(({ language }) => language));
    expect([...new Set(languages)].sort().join(' ')).toBe('hcl js mermaid nginx sh sql text ts yaml');
    const pagesWith = (...wanted: readonly string[]): readonly string[] =>
      documents
        .filter(({ blocks }) => blocks.some(({ language }) => wanted.includes(language)))
        .map(({ path }) => path);
    // Run by test/queues/bullmq/postgres-privileges.program.test.ts.
    expect(pagesWith('sql')).toEqual(['docs/queue.md']);
    // Run by test/docs/nginx.program.test.ts.
    expect(pagesWith('nginx')).toEqual(['docs/production.md']);
    // Compared with the times of a receiver by test/docs/kubernetes.test.ts.
    const ofKubernetes = ['docs/operations.md', 'docs/production.md'];
    expect(pagesWith('yaml')).toEqual(expect.arrayContaining(ofKubernetes));
    // Compared with the table of the tests by a page.matrix.test.ts of the store.
    const ofTables = pagesWith('hcl', 'yaml').filter((path) => !ofKubernetes.includes(path));
    const compared = stores
      .filter(({ name }) => existsSync(join(packageRoot, 'test/stores', name, 'page.matrix.test.ts')))
      .map(({ name }) => `docs/${name}.md`);
    expect(ofTables).toEqual(compared);
    // Run by test/matrix/{forgotten-await,commonjs}.test.ts.
    const inJavaScript = documents.flatMap(({ path, blocks }) =>
      blocks.filter(({ language }) => language === 'js').map(() => path),
    );
    expect(inJavaScript).toEqual(['docs/handlers.md', 'docs/testing.md']);
    const fences = documents.flatMap(({ text }) => text.match(/^\s*(```|~~~)/gm) ?? []);
    expect(fences.length).toBe(2 * languages.length);
  });

  test.each(snippets)('$name compiles', ({ name }) => {
    expect(compilerSays.filter((line) => line.startsWith(`${name}.ts(`))).toEqual([]);
  });

  test('all of them compile in one project', () => {
    expect(compilerSays).toEqual([]);
  });

  test.each(servers)('$name, a server', (snippet) =>
    expectDeliveries(serversRun, snippet, ports.get(snippet.name) ?? 0),
  );

  describe('the test files of vitest', () => {
    /** By the name of a snippet, the states of its tests. */
    const states = new Map<string, readonly string[]>();
    let output: string;

    beforeAll(async () => {
      // Beside the snippets that they import.
      for (const { name } of testFiles) cpSync(join(out, `${name}.js`), join(out, `${name}.test.js`));
      // Otherwise vitest would look for one further up, and find that of this package.
      writeFileSync(join(out, 'vitest.config.js'), 'export default {};\n');
      const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
      const environment = { PATH: process.env.PATH, NO_COLOR: '1', POSTGRES_URL: postgresUrl };
      const reporters = ['--reporter=default', '--reporter=json', '--outputFile.json=report.json'];
      const program = startProgram(vitest, environment, out, ['run', '--root', out, ...reporters]);
      const code = await program.exit;
      output = program.lines.join('\n');
      expect(code, output).toBe(0);
      const { testResults } = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
      for (const { name, assertionResults } of testResults) {
        const result: readonly { readonly status: string }[] = assertionResults;
        states.set(
          name.replace(/.*\/|\.test\.js$/g, ''),
          result.map(({ status }) => status),
        );
      }
    });

    test.each(testFiles)('$name passes', ({ name, code }) => {
      const tests = code.match(/^test\(/gm) ?? [];
      expect(states.get(name)).toEqual(tests.map(() => 'passed'));
    });

    test('leave nothing in the log', () => {
      expect(output.split('\n').filter((line) => line.startsWith('posthorn: '))).toEqual([]);
    });
  });

  test.each(programs)('$name, a program', async ({ name }) => {
    await printedBy(programsRun, name);
  });

  test('all programs come to an end by themselves', async () => {
    expect(await programsRun.exit, programsRun.lines.join('\n')).toBe(0);
  });

  test.each(nestModules)('$name, a module of NestJS', async ({ name }) => {
    const printed = await printedBy(nestModulesRun, name);
    expect(printed.at(-1)).toMatch(/^answered (processed|queued), and processed$/);
  });

  test('all modules of NestJS come to an end by themselves', async () => {
    expect(await nestModulesRun.exit, nestModulesRun.lines.join('\n')).toBe(0);
  });

  test.each(modules)('$name, a module', (snippet) => expectImported(modulesRun, snippet));

  test('all modules are imported without an error', async () => {
    expect(await modulesRun.exit, modulesRun.lines.join('\n')).toBe(0);
  });
});
