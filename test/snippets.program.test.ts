import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { posthorn } from './cli/posthorn.ts';
import { Servers as PostgresServers } from './postgres/servers.ts';
import { Servers } from './redis/servers.ts';
import { driverFolder, untilInstalled } from './sqlite/install-driver.ts';
import { packageRoot, startProgram } from './support/child-program.ts';
import { freePort } from './support/free-port.ts';
import { installPackage } from './support/installed-package.ts';
import { packedFiles } from './support/packed-files.ts';
import { snippetWith } from './support/snippet.ts';

interface Block {
  readonly language: string;
  readonly code: string;
}

interface Document {
  /** Relative to the root of the package. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

interface Snippet {
  /** Unique, and the name of its file. */
  readonly name: string;
  readonly code: string;
}

function readDocument(path: string): Document {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const blocks = [...text.matchAll(/^```(\S*)\n(.*?)^```$/gms)];
  return { path, text, blocks: blocks.map(([, language = '', code = '']) => ({ language, code })) };
}

const documents: readonly Document[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  // What lies in folders of docs/ is written by a program.
  ...readdirSync(join(packageRoot, 'docs'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => `docs/${name}`),
].map(readDocument);
const readme = readDocument('README.md');

/** Compiled and run in test/matrix, which installs these packages. */
const inMatrix = /from '(@nestjs\/core|@opentelemetry\/sdk-node|@prisma\/adapter-pg|knex|postgres|typeorm)'/;
const snippets: readonly Snippet[] = documents.flatMap(({ path, blocks }) =>
  blocks
    .filter(({ language, code }) => language === 'ts' && !inMatrix.test(code))
    .map(({ code }, index) => ({ name: `${path.replace(/.*\/|\.md$/g, '')}-${index + 1}`, code })),
);
/**
 * Servers get deliveries, modules are imported by somebody else, vitest runs test files, and programs come to
 * an end by themselves.
 */
const servers = snippets.filter(({ code }) => /listen\((\{ port: )?3000/.test(code));
const modules = snippets.filter(({ code }) => /^export /m.test(code));
const testFiles = snippets.filter(({ code }) => code.includes("from 'vitest'"));
const programs = snippets.filter((snippet) =>
  [servers, modules, testFiles].every((others) => !others.includes(snippet)),
);

// Inside the package, so that the snippets import it by its name: what is built, not the sources.
const folder = join(packageRoot, 'dist', 'readme');
const key = 'readme-key';
const ports = new Map<string, number>();
const redisServers = new Servers();
let directory: string;
let redisUrl: string | undefined;
const postgresServers = new PostgresServers();
let postgresUrl: string | undefined;

beforeAll(async () => {
  const replaceHosts = await startRedis();
  const postgres = await postgresServers.single();
  postgresUrl = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
  directory = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  mkdirSync(folder, { recursive: true });
  await untilInstalled();
  rmSync(join(folder, 'node_modules'), { force: true });
  symlinkSync(join(driverFolder, 'node_modules'), join(folder, 'node_modules'));
  for (const { name, code } of snippets) {
    const port = await freePort();
    ports.set(name, port);
    writeFileSync(join(folder, `${name}.ts`), replaceHosts(code.replaceAll('3000', String(port))));
  }
  writeFileSync(join(folder, 'load.ts'), LOAD);
  writeFileSync(join(folder, 'parked.ts'), `${snippetWith('PermanentError', 'README.md')}${DELIVER_DISPUTE}`);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilation));
  const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', folder], { stdio: 'inherit' }); // it prints which line of which snippet is wrong
}, 600_000);

afterAll(async () => {
  await Promise.all([redisServers.stop(), postgresServers.stop()]);
  rmSync(directory, { recursive: true });
});

/** Starts what the snippets connect to; returns a function that puts its addresses in the place of theirs. */
async function startRedis(): Promise<(code: string) => string> {
  const [single, { sentinelPorts }, nodes] = await Promise.all([
    redisServers.single(),
    redisServers.sentinel(),
    redisServers.cluster(),
  ]);
  redisUrl = `redis://127.0.0.1:${single.port}`;
  const addresses = new Map([
    [`'127.0.0.1',\n  port: 6379`, `'127.0.0.1',\n  port: ${single.port}`],
    ['redis://127.0.0.1:6379', redisUrl],
    hostOf('redis', 6379, single.port),
    ...sentinelPorts.map((port, index) => hostOf(`sentinel-${index + 1}`, 26379, port)),
    ...nodes.map(({ port }, index) => hostOf(`node-${index + 1}`, 6379, port)),
  ]);
  return (code) => [...addresses].reduce((text, [theirs, ours]) => text.replace(theirs, ours), code);
}

function hostOf(name: string, port: number, ours: number): [theirs: string, ours: string] {
  return [`{ host: '${name}', port: ${port} }`, `{ host: '127.0.0.1', port: ${ours} }`];
}

/** Follows a snippet that fails a dispute without an amount for good. */
const DELIVER_DISPUTE = `
const { createEvent, deliver } = await import('posthorn/testing');
const key = process.env.SIGNING_KEY ?? '';
console.log(await (await deliver(receiver, createEvent('dispute.created', {}), { key })).text());
`;

/** Imports a snippet, and uses the connection that it exports. */
const LOAD = `
const { pool, redis } = await import(process.argv[2] ?? '');
if (redis !== undefined) {
  redis.on('error', console.error);
  await redis.set('readme', 'connected');
  console.log(await redis.get('readme'));
}
if (pool !== undefined) console.log((await pool.query("select 'connected' as answer")).rows[0].answer);
process.exit();
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
    // As in test/tsconfig.json.
    paths: {
      'content-disposition': [join(packageRoot, 'node_modules/@types/content-disposition/index.d.ts')],
    },
    rootDir: '.',
    outDir: 'out',
  },
  include: ['*.ts'],
};

function start(name: string, ...args: string[]): ReturnType<typeof startProgram> {
  const environment = {
    ...process.env,
    SIGNING_KEY: key,
    REDIS_URL: redisUrl,
    POSTGRES_URL: postgresUrl,
    // Else the SDK of AWS warns on Node.js 20.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  return startProgram(join(folder, 'out', `${name}.js`), environment, directory, args);
}

describe('the snippets of the README and of docs/ compile and run', () => {
  test('there are some of each kind', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(15);
    expect(servers.length).toBeGreaterThanOrEqual(3);
    expect(modules.length).toBeGreaterThanOrEqual(1);
    expect(testFiles.length).toBe(3);
    expect(programs.length).toBeGreaterThanOrEqual(5);
    const ofMatrix = documents.flatMap(({ blocks }) => blocks.filter(({ code }) => inMatrix.test(code)));
    expect(ofMatrix, 'one for each package, because test/matrix takes them by these').toHaveLength(6);
  });

  test('no snippet hides in a block of another language', () => {
    const languages = documents.flatMap(({ blocks }) => blocks.map(({ language }) => language));
    expect([...new Set(languages)].sort()).toEqual(['hcl', 'js', 'mermaid', 'sh', 'text', 'ts', 'yaml']);
    // Compared with the table of the tests by test/dynamodb/page.matrix.test.ts.
    const ofTables = documents.filter(({ blocks }) =>
      blocks.some(({ language }) => language === 'hcl' || language === 'yaml'),
    );
    expect(ofTables.map(({ path }) => path)).toEqual(['docs/dynamodb.md']);
    // Run by test/matrix/{forgotten-await,commonjs}.test.ts.
    const inJavaScript = documents.flatMap(({ path, blocks }) =>
      blocks.filter(({ language }) => language === 'js').map(() => path),
    );
    expect(inJavaScript).toEqual(['docs/handlers.md', 'docs/testing.md']);
    const fences = documents.flatMap(({ text }) => text.match(/^\s*(```|~~~)/gm) ?? []);
    expect(fences.length).toBe(2 * languages.length);
  });

  test.each(servers)('$name, a server', async ({ name }) => {
    const port = ports.get(name) ?? 0;
    const program = start(name);
    try {
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
      await program.line(new RegExp(`^${event.id} 1250$`));
    } finally {
      program.kill('SIGKILL');
      await program.exit;
    }
  });

  test.each(testFiles)('$name, a test file of vitest', async ({ name, code }) => {
    const root = join(folder, 'out', 'vitest', name);
    cpSync(join(folder, 'out', `${name}.js`), join(root, `${name}.test.js`));
    // Otherwise vitest would look for one further up, and find that of this package.
    writeFileSync(join(root, 'vitest.config.js'), 'export default {};\n');
    const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
    const environment = { PATH: process.env.PATH, NO_COLOR: '1', POSTGRES_URL: postgresUrl };
    const program = startProgram(vitest, environment, root, ['run', '--root', root]);
    expect(await program.exit, program.lines.join('\n')).toBe(0);
    const tests = code.match(/^test\(/gm) ?? [];
    expect(program.lines.join('\n')).toMatch(new RegExp(`Tests +${tests.length} passed`));
    expect(program.lines.filter((line) => line.startsWith('posthorn: '))).toEqual([]);
  });

  test.each(programs)('$name, a program', async ({ name }) => {
    const program = start(name);
    expect(await program.exit, program.lines.join('\n')).toBe(0);
  });

  test.each(modules)('$name, a module', async ({ name, code }) => {
    const program = start('load', join(folder, 'out', `${name}.js`));
    expect(await program.exit, program.lines.join('\n')).toBe(0);
    expect(program.lines).toEqual(/export const (redis|pool)\b/.test(code) ? ['connected'] : []);
  });
});

describe('the README', () => {
  test('parks the event that its snippet gives up', async () => {
    const program = start('parked');
    await program.line(/"outcome":"parked"/);
    expect(await program.exit).toBe(0);
  });

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

  test('its first commands and its first snippet run, with the tarball for the registry', {
    timeout: 180_000,
  }, async () => {
    const [{ code: commands = '' } = {}] = readme.blocks.filter(({ language }) => language === 'sh');
    const [{ code: snippet = '' } = {}] = readme.blocks.filter(({ language }) => language === 'ts');
    const [first = '', ...others] = commands.trim().split('\n');
    const installed = installPackage(first);
    onTestFinished(installed.remove);
    for (const command of others)
      installed.run('sh', ['-c', `${command} --no-audit --no-fund --prefer-offline`]);
    const port = await freePort();
    const [, file = '', command = ''] =
      /^Save it as `(\S+)`, start it with `([^`]+)`/m.exec(readme.text) ?? [];
    const [, send = ''] = /^`(SIGNING_KEY=secret npx posthorn send [^`]+)`/m.exec(readme.text) ?? [];
    writeFileSync(join(installed.project, file), snippet.replaceAll('3000', String(port)));
    expect(command).toBe(`SIGNING_KEY=secret node ${file}`);
    const environment = { PATH: process.env.PATH, SIGNING_KEY: 'secret' };
    const server = startProgram(join(installed.project, file), environment, installed.project);
    onTestFinished(() => server.kill('SIGKILL'));
    await untilListening(port);
    const sent = installed.run('sh', ['-c', send.replaceAll('3000', String(port))]);
    expect(sent).toMatch(/processed[\s\S]*duplicate/);
    await server.line(/^evt_\S+ 1250$/);
  });
});

describe('the commands of posthorn exist, and so do their options', () => {
  const inBlocks = ({ blocks }: Document): string[] =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.match(/(?<=^|\s)posthorn [^|#\n]*/gm) ?? []);
  const inText = ({ text }: Document): string[] =>
    text.match(/(?<=`([A-Z_]+=\S+ |npx )*)posthorn (?!help)[^`]+(?=`)/g) ?? [];
  const lines = documents.flatMap((document) =>
    [...inBlocks(document), ...inText(document)].map((line) => ({ path: document.path, line })),
  );

  test('there are some', () => {
    expect(lines.length).toBeGreaterThanOrEqual(20);
  });

  test.each(lines)('$path: $line', async ({ line }) => {
    const [, first = '', second = ''] = line.split(/\s+/);
    const isGroup = [
      'webhooks',
      'dead-letters',
      'fx-quotes',
      'e-checks',
      'lists',
      'postgres',
      'sqlite',
      'd1',
    ].includes(first);
    const command = isGroup ? `${first} ${second}`.trim() : first;
    const { code, stdout } = await helpOf(command);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: posthorn ${command} `);
    const options = line.match(/(?<=\s)--[\w-]+/g) ?? [];
    expect(options.filter((option) => !new RegExp(`^ +${option}\\b`, 'm').test(stdout))).toEqual([]);
  });
});

describe('what the documents say can be found', () => {
  test('every link leads to a file that is packed with the page, and to a heading of it', () => {
    const packed = packedFiles();
    const isPacked = (target: string): boolean =>
      packed.some((path) => path === target || path.startsWith(`${target}/`));
    const broken = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)|^\[[^\]]+\]: (?!https?:)([^#\n]*)#?(.*)$/gm)]
        .filter(([, inline, inlineAnchor, defined, definedAnchor]) => {
          const file = inline ?? defined ?? '';
          const anchor = inlineAnchor ?? definedAnchor ?? '';
          const target = file === '' ? path : join(dirname(path), file).replace(/\/$/, '');
          const isThere = existsSync(join(packageRoot, target)) && hasAnchor(target, anchor);
          return !isThere || (isPacked(path) && !isPacked(target));
        })
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('every link to a page on GitHub leads to a file of this repository that is not packed', () => {
    const packed = packedFiles();
    const onGitHub = /https:\/\/github\.com\/posthorn\/posthorn\/(?:blob|tree|raw)\/([\w-]+)\/([\w./-]+)/g;
    const links = documents.flatMap(({ text }) => [...text.matchAll(onGitHub)]);
    expect(links.length).toBeGreaterThan(5);
    const broken = links.filter(
      ([, version, file = '']) =>
        version !== 'HEAD' || !existsSync(join(packageRoot, file)) || packed.includes(file),
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('every reference to a link has its definition', () => {
    const missing = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<=\S\])\[([\w-]+)\]/g)]
        .filter(([, name]) => !text.includes(`\n[${name}]: `))
        .map(([reference]) => `${path}: ${reference}`),
    );
    expect(missing).toEqual([]);
  });

  test('every file that is named is there', () => {
    const named = documents.flatMap(
      ({ text }) =>
        text.match(/(?<=`)(src|adapters|examples|test|bench|tools|docs)\/[\w/.-]+\.\w+(?=`)/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
  });

  test('a page of docs/ with a command of the repository says that it takes a clone', () => {
    const command = /npx\s+vitest\s+run\s+test|npm\s+(--prefix\s+bench\s+)?run\s|node\s+(bench|dist)\//;
    const pages = documents.filter(({ path, text }) => path.startsWith('docs/') && command.test(text));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.filter(({ text }) => !/\bclone\b/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test('docs/troubleshooting.md has each code that a delivery can be answered with', () => {
    const [, table = ''] = readDocument('docs/answers.md').text.split('| code | outcome | status |');
    const [rows = ''] = table.split('\n\n');
    const codes = rows.match(/(?<=`)[a-z]+_[a-z_]+(?=`)|(?<=`)closing(?=`)/g) ?? [];
    expect(codes.length).toBeGreaterThan(25);
    const page = readDocument('docs/troubleshooting.md').text;
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });

  test('the README leads to every page of docs/', () => {
    const pages = documents.map(({ path }) => path).filter((path) => path !== 'README.md');
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

const helps = new Map<string, ReturnType<typeof posthorn>>();

function helpOf(command: string): ReturnType<typeof posthorn> {
  const help = helps.get(command) ?? posthorn([...command.split(' '), '--help']);
  helps.set(command, help);
  return help;
}

/** Whether a page has the heading that an anchor names, in GitHub's form of it. */
function hasAnchor(path: string, anchor: string): boolean {
  if (anchor === '') return true;
  const headings = readDocument(path).text.match(/(?<=^#+ ).*$/gm) ?? [];
  return headings.some(
    (heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-') === anchor,
  );
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
