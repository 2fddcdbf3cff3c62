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
import { createEvent, deliver } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { Servers as PostgresServers } from '../stores/postgres/servers.ts';
import { Servers } from '../stores/redis/servers.ts';
import { startSnippetServers } from '../stores/redis/snippet-servers.ts';
import { standInPath } from '../stores/sqlite/driver.ts';
import { type ChildProgram, packageRoot, startCommand, startProgram } from '../support/child-program.ts';
import { documents } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { snippetWith } from '../support/snippet.ts';
import { untilListening } from '../support/until-listening.ts';

interface Snippet {
  /** Unique, and the name of its file. */
  readonly name: string;
  readonly code: string;
}

/** Compiled and run in test/matrix, which installs these packages. */
const inMatrix = /from '(@opentelemetry\/sdk-node|@prisma\/adapter-pg|knex|postgres|typeorm)'/;
const snippets: readonly Snippet[] = documents.flatMap(({ path, blocks }) =>
  withImportsOfPage(
    blocks
      .filter(({ language, code }) => language === 'ts' && !inMatrix.test(code))
      .map(({ code }, index) => ({ name: `${path.replace(/.*\/|\.md$/g, '')}-${index + 1}`, code })),
  ),
);

/** Later snippets of a page import one that begins with `// receiver.js` or `// receiver.ts` by that name. */
function withImportsOfPage(ofPage: readonly Snippet[]): readonly Snippet[] {
  return ofPage.map(({ name, code }, index) => ({
    name,
    code: code.replace(/(?<= from '\.\/)([\w.-]+)\.js(?=')/g, (file, stem) => {
      const imported = ofPage.slice(0, index).findLast((earlier) => earlier.code.startsWith(`// ${stem}.`));
      return imported === undefined ? file : `${imported.name}.js`;
    }),
  }));
}

/**
 * Servers and modules of NestJS get deliveries, other modules are imported by somebody else, vitest runs test
 * files, and programs come to an end by themselves.
 */
const servers = snippets.filter(({ code }) => /listen\((\{ port: )?3000/.test(code));
const nestModules = snippets.filter(({ code }) => nestModuleOf(code) !== undefined);
const modules = snippets.filter(
  (snippet) => /^export /m.test(snippet.code) && !nestModules.includes(snippet),
);
const testFiles = snippets.filter(({ code }) => code.includes("from 'vitest'"));
const programs = snippets.filter((snippet) =>
  [servers, nestModules, modules, testFiles].every((others) => !others.includes(snippet)),
);

/** The name of the module of NestJS that a snippet exports last, and that imports the others. */
function nestModuleOf(code: string): string | undefined {
  return code.match(/(?<=^export class )\w+Module\b/gm)?.at(-1);
}

/** A snippet that parks an event, and a delivery to it. */
const parked: Snippet = { name: 'parked', code: '' };

// Inside the package, so that the snippets import it by its name: what is built, not the sources.
const folder = join(packageRoot, 'dist', 'readme');
const key = 'readme-key';
const ports = new Map<string, number>();
const redisServers = new Servers();
let directory: string;
let redisUrl: string | undefined;
const postgresServers = new PostgresServers();
let postgresUrl: string | undefined;
let compilerSays: readonly string[];
let programsRun: ChildProgram;
let modulesRun: ChildProgram;
let nestModulesRun: ChildProgram;
let serversRun: ChildProgram;

beforeAll(async () => {
  const { replaceHosts, url } = await startSnippetServers(redisServers);
  redisUrl = url;
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
  writeFileSync(
    join(folder, `${parked.name}.ts`),
    `${snippetWith('PermanentError', 'README.md')}${DELIVER_DISPUTE}`,
  );
  compilerSays = compile();
  programsRun = startAll('program', [...programs, parked]);
  modulesRun = startAll('module', modules);
  nestModulesRun = startAll('NestJS', nestModules);
  serversRun = startAll('server', servers);
}, 600_000);

afterAll(async () => {
  serversRun?.kill('SIGKILL');
  await Promise.all([redisServers.stop(), postgresServers.stop()]);
  rmSync(directory, { recursive: true });
});

/** Follows a snippet that fails a dispute without an amount for good. */
const DELIVER_DISPUTE = `
const { createEvent, deliver } = await import('posthorn/testing');
const key = process.env.SIGNING_KEY ?? '';
console.log(await (await deliver(receiver, createEvent('dispute.created', {}), { key })).text());
`;

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

const compiled = (name: string): string => join(folder, 'out', `${name}.js`);

/** Imports snippets in one process, whose lines on stderr stand among those on stdout. */
function startAll(kind: string, list: readonly Snippet[]): ChildProgram {
  const environment = {
    ...process.env,
    SIGNING_KEY: key,
    REDIS_URL: redisUrl,
    POSTGRES_URL: postgresUrl,
    // Else the SDK of AWS warns on Node.js 20.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const runner = join(packageRoot, 'test', 'support', 'run-snippets.mjs');
  const work = list.map(({ name, code }) => ({ name, path: compiled(name), nestModule: nestModuleOf(code) }));
  const argument = JSON.stringify({ kind, snippets: work });
  const command = ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, runner, argument];
  return startCommand('sh', command, environment, directory);
}

/** The lines that a snippet has printed while it was imported; throws if that has failed. */
async function printedBy({ line, lines }: ChildProgram, name: string): Promise<readonly string[]> {
  const last = await line(new RegExp(`^(end|fail) ${name}$`));
  const printed = lines.slice(lines.indexOf(`begin ${name}`) + 1, lines.indexOf(last));
  if (last.startsWith('fail')) throw new Error(printed.join('\n'));
  return printed;
}

describe('the snippets of the README and of docs/ compile and run', () => {
  test('there are some of each kind', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(15);
    expect(servers.length).toBeGreaterThanOrEqual(3);
    expect(modules.length).toBeGreaterThanOrEqual(1);
    expect(nestModules.length).toBeGreaterThanOrEqual(4);
    expect(testFiles.length).toBe(5);
    expect(programs.length).toBeGreaterThanOrEqual(5);
    const ofMatrix = documents.flatMap(({ blocks }) => blocks.filter(({ code }) => inMatrix.test(code)));
    expect(ofMatrix, 'one for each package, because test/matrix takes them by these').toHaveLength(5);
  });

  test('no snippet hides in a block of another language', () => {
    const languages = documents.flatMap(({ blocks }) => blocks.map(({ language }) => language));
    expect([...new Set(languages)].sort()).toEqual([
      'hcl',
      'js',
      'mermaid',
      'sh',
      'sql',
      'text',
      'ts',
      'yaml',
    ]);
    // Run by test/queues/bullmq/postgres-privileges.program.test.ts.
    const inSql = documents.filter(({ blocks }) => blocks.some(({ language }) => language === 'sql'));
    expect(inSql.map(({ path }) => path)).toEqual(['docs/queue.md']);
    // Compared with the table of the tests by a page.matrix.test.ts of the store.
    const ofTables = documents.filter(({ blocks }) =>
      blocks.some(({ language }) => language === 'hcl' || language === 'yaml'),
    );
    const compared = stores
      .filter(({ name }) => existsSync(join(packageRoot, 'test/stores', name, 'page.matrix.test.ts')))
      .map(({ name }) => `docs/${name}.md`);
    expect(ofTables.map(({ path }) => path)).toEqual(compared);
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

  test.each(servers)('$name, a server', async ({ name }) => {
    const port = ports.get(name) ?? 0;
    await printedBy(serversRun, name);
    await untilListening(port);
    const url = `http://127.0.0.1:${port}/webhooks`;
    const event = createEvent('transfer.succeeded', { amount: 1250 });
    expect(await (await deliver(url, event, { key })).json()).toEqual({
      outcome: 'processed',
      id: event.id,
    });
    expect(await (await deliver(url, event, { key })).json()).toEqual({
      outcome: 'duplicate',
      id: event.id,
    });
    expect((await deliver(url, event, { key: 'another' })).status).toBe(403);
    await serversRun.line(new RegExp(`^${event.id} 1250$`));
  });

  describe('the test files of vitest', () => {
    /** By the name of a snippet, the states of its tests. */
    const states = new Map<string, readonly string[]>();
    let output: string;

    beforeAll(async () => {
      // Beside the snippets that they import.
      const root = join(folder, 'out');
      for (const { name } of testFiles) cpSync(compiled(name), join(root, `${name}.test.js`));
      // Otherwise vitest would look for one further up, and find that of this package.
      writeFileSync(join(root, 'vitest.config.js'), 'export default {};\n');
      const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
      const environment = { PATH: process.env.PATH, NO_COLOR: '1', POSTGRES_URL: postgresUrl };
      const reporters = ['--reporter=default', '--reporter=json', '--outputFile.json=report.json'];
      const program = startProgram(vitest, environment, root, ['run', '--root', root, ...reporters]);
      const code = await program.exit;
      output = program.lines.join('\n');
      expect(code, output).toBe(0);
      const { testResults } = JSON.parse(readFileSync(join(root, 'report.json'), 'utf8'));
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

  test('the README parks the event that its snippet gives up', async () => {
    expect(await printedBy(programsRun, parked.name)).toContainEqual(
      expect.stringContaining('"outcome":"parked"'),
    );
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

  test.each(modules)('$name, a module', async ({ name, code }) => {
    expect(await printedBy(modulesRun, name)).toEqual(
      /export const (redis|pool)\b/.test(code) ? ['connected'] : [],
    );
  });

  test('all modules are imported without an error', async () => {
    expect(await modulesRun.exit, modulesRun.lines.join('\n')).toBe(0);
  });
});
