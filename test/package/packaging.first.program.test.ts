import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { stores } from '../../src/stores/list.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { readme } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { type InstalledPackage, installPackage, packed } from '../support/installed-package.ts';
import { untilListening } from '../support/until-listening.ts';
import { specifiers } from './specifiers.ts';

/** The first commands of the README install what its snippets need; the next one sends an event. */
const [commands = '', send = '', park = ''] = readme.blocks.flatMap(({ language, code }) =>
  language === 'sh' ? [code] : [],
);
const [install = '', ...otherCommands] = commands.trim().split('\n');
/** What stands on a peer: the tests of `built.*` in their rooms load it where that is installed. */
const peers: ReadonlyMap<string, string> = new Map([
  ['posthorn/bullmq', 'bullmq'],
  ['posthorn/nestjs', '@nestjs/common'],
  ...stores
    .filter(({ importsPeer }) => importsPeer)
    .map(({ name, peers: [peer = ''] }) => [`posthorn/${name}`, peer] as const),
  ['posthorn/opentelemetry', '@opentelemetry/api'],
  ['posthorn/prometheus', 'prom-client'],
]);
const withoutPeers = specifiers.filter((specifier) => !peers.has(specifier));

let installed: InstalledPackage;
let project: string;

// In a hook of its own: each has a time limit.
beforeAll(() => void packed());

beforeAll(() => {
  installed = installPackage(install);
  ({ project } = installed);
});

afterAll(() => installed.remove());

describe('the packed tarball, installed in an empty project', () => {
  test('brings no optional peer along, and 18 packages at most', () => {
    const lock = readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8');
    const folders = Object.keys(JSON.parse(lock).packages);
    expect(folders).toContain('node_modules/posthorn');
    for (const peer of Object.keys(manifest.peerDependencies)) {
      expect(folders).not.toContain(`node_modules/${peer}`);
      expect(existsSync(join(project, 'node_modules', peer))).toBe(false);
    }
    expect(folders.length).toBeLessThanOrEqual(18);
  });

  describe('in a process that requires no ESM,', () => {
    /** By specifier, what it exports or why it could not be loaded, by each way to load it. */
    let loaded: Readonly<Record<string, { readonly required?: string; readonly imported: string }>>;

    beforeAll(() => {
      const program = `
        const names = (exports) => Object.keys(exports).sort().join();
        const loaded = {};
        (async () => {
          for (const specifier of ${JSON.stringify([...peers.keys()])}) {
            loaded[specifier] = { imported: await import(specifier).then(names, ({ message }) => message) };
          }
          for (const specifier of ${JSON.stringify(withoutPeers)}) {
            loaded[specifier] = { required: names(require(specifier)), imported: names(await import(specifier)) };
          }
          console.log(JSON.stringify(loaded));
        })();`;
      const flags = ['--no-experimental-require-module', '--input-type=commonjs'];
      loaded = JSON.parse(installed.run('node', [...flags, '-e', program]));
    });

    test.each([...peers])('%s says that %s is missing', (specifier, peer) => {
      expect(loaded[specifier]?.imported).toMatch(new RegExp(`^Cannot find package '${peer}'`));
    });

    test.each(withoutPeers)('%s imports from ESM, and by require', (specifier) => {
      const { required, imported } = loaded[specifier] ?? {};
      expect(imported).not.toBe('');
      expect(required).toBe(imported);
    });
  });

  test('holds the interface as OpenAPI', () => {
    const program = `console.log(require('posthorn/openapi.json').openapi)`;
    expect(installed.run('node', ['--input-type=commonjs', '-e', program])).toBe('3.1.1\n');
  });

  test('handles an event', () => {
    const program = `
      import { createServer } from 'node:http';
      import { createReceiver } from 'posthorn';
      import { toNode } from 'posthorn/node';
      import { createEvent, deliver } from 'posthorn/testing';
      const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
      const server = createServer(toNode(receiver)).listen(0, async () => {
        const url = 'http://127.0.0.1:' + server.address().port;
        const response = await deliver(url, createEvent('transfer.created'), { key: 'k' });
        console.log((await response.json()).outcome);
        server.close();
      });`;
    expect(installed.run('node', ['--input-type=module', '-e', program])).toBe('processed\n');
  });

  /** Starts its program; ends it with the test. */
  function start(...args: readonly string[]): ChildProgram {
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    const program = startProgram(bin, { PATH: process.env.PATH, SIGNING_KEY: 'k' }, project, args);
    onTestFinished(() => program.kill('SIGKILL'));
    return program;
  }

  test('its program helps, and knows its version', () => {
    expect(installed.run('npx', ['posthorn', 'help'])).toMatch('Usage: posthorn ');
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    expect(installed.run(bin, ['--version'])).toBe(`${manifest.version}\n`);
  });

  test('its program shows what a receiver does, without any other package', async () => {
    const program = start('demo', '--port', '0');
    expect(await program.line(/^page: /)).toMatch(/^page: http:\/\/127\.0\.0\.1:\d+\/$/);
    await program.line(/^listening on /);
    const [folder = ''] = /(?<=dead letters in )[^)]+/.exec(await program.line(/dead letters in /)) ?? [];
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(program.lines.join('\n')).toContain('2 processed, 1 duplicate, 1 rejected, 4 failed, 1 parked.');
    program.kill('SIGINT');
    expect(await program.exit, program.lines.join('\n')).toBe(0);
  });

  test('its program plays the service until it is interrupted', async () => {
    const program = start('sandbox', '--port', '0', '--json');
    const { url } = JSON.parse(await program.line(/"listening"/));
    const quote = await fetch(`${url}/banking/us2/v1/transaction/fxQuote`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer sandbox-jwt',
        'x-api-key': 'sandbox-key',
        'content-type': 'application/json',
      },
      body: '{"destination":{"currency":"EUR"},"source":{"amount":"100.00"}}',
    });
    expect(await quote.json()).toMatchObject({ status: 'GENERATED', source: { amount: '100.00' } });
    program.kill('SIGINT');
    expect(await program.exit, program.lines.join('\n')).toBe(0);
  });

  test('its program receives an event that it sends', async () => {
    const listening = start('listen', '--port', '0', '--json');
    const { url } = JSON.parse(await listening.line(/"listening"/));
    const sending = start('send', 'transfer.succeeded', '--to', url);
    expect(await sending.exit, sending.lines.join('\n')).toBe(0);
    expect(JSON.parse(await listening.line(/"report"/))).toMatchObject({ outcome: 'processed' });
    listening.kill('SIGINT');
    expect(await listening.exit, listening.lines.join('\n')).toBe(0);
  });
});

describe('the documents in the tarball', () => {
  test('lead to files of the tarball only', () => {
    const root = join(project, 'node_modules', 'posthorn');
    const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.md$/.test(path),
    );
    expect(pages).toContain('README.md');
    expect(pages.length).toBeGreaterThan(10);
    const links = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
      return targets.map((target) => join(dirname(page), target));
    });
    expect(links.length).toBeGreaterThan(30);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('the README names no path that is not in it', () => {
    const root = join(project, 'node_modules', 'posthorn');
    const text = readFileSync(join(root, 'README.md'), 'utf8');
    const named = text.match(/(?<=`)[\w.-]+\/[\w/.-]+(?=`)/g) ?? [];
    const paths = named.filter((path) => !specifiers.includes(path));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('where the package is installed, and Express', () => {
  // In the same project, once the tests above are done with it: packing and installing again takes seconds.
  beforeAll(() => {
    for (const command of otherCommands)
      installed.run('sh', ['-c', `${command} --no-audit --no-fund --prefer-offline`]);
  });

  test("the README's first program runs after its first commands, with the tarball for the registry", async () => {
    const port = await freePort();
    const files = readme.blocks.flatMap(({ language, code }) => {
      const [, name] = /^\/\/ (\S+\.js)$/m.exec(code) ?? [];
      return language === 'ts' && name !== undefined ? [{ name, code }] : [];
    });
    expect(files.map(({ name }) => name)).toEqual(['receiver.js', 'server.js']);
    for (const { name, code } of files)
      writeFileSync(join(project, name), code.replaceAll('3000', String(port)));
    expect(readme.text).toContain('`SIGNING_KEY=secret node server.js`');
    const environment = { PATH: process.env.PATH, SIGNING_KEY: 'secret' };
    const start = async (): Promise<ChildProgram> => {
      const started = startProgram(join(project, 'server.js'), environment, project);
      onTestFinished(() => started.kill('SIGKILL'));
      await untilListening(port);
      return started;
    };
    const runOfPage = (code: string): string =>
      installed.run('sh', ['-c', code.replaceAll('3000', String(port))]);
    const server = await start();
    const sent = runOfPage(send);
    const [printed = ''] = readme.blocks.flatMap(({ code }) => (code.includes('"duplicate"') ? [code] : []));
    expect(withoutDetails(sent)).toBe(withoutDetails(printed));
    await server.line(/^evt_\S+ 1250$/);

    server.kill('SIGTERM');
    await server.exit;
    const [receiver] = files;
    expect.assert(receiver);
    const broken = receiver.code.replace(/\(event\) => .*\)\);$/m, '() => { throw new Error("broken"); });');
    expect(broken).not.toBe(receiver.code);
    writeFileSync(join(project, receiver.name), broken);
    await start();
    const [sendOld = '', list = '', replay = ''] = park.trim().split('\n');
    expect(runOfPage(sendOld)).toContain('"outcome":"parked"');
    expect(runOfPage(list)).toMatch(/^1 /m);
    writeFileSync(join(project, receiver.name), receiver.code);
    expect(runOfPage(replay)).toMatch(/^evt_\S+ 1250$/m);
    expect(runOfPage(list)).toMatch(/^0 /m);
  });

  test.each(['express', 'node-http'])('examples/%s runs, compiled into the project', async (name) => {
    const root = join(project, 'node_modules', 'posthorn');
    const before = readdirSync(root, { recursive: true });
    expect(before).toContain(join('examples', name, 'server.ts'));
    cpSync(join(packageRoot, 'dist', 'examples'), join(project, 'examples'), { recursive: true });
    writeFileSync(join(project, 'examples', 'package.json'), '{"type":"module"}');
    const program = startProgram(
      join(project, 'examples', name, 'server.js'),
      { PATH: process.env.PATH, PORT: '0' },
      project,
    );
    await program.line(/^listening on /);
    program.kill('SIGTERM');
    expect(await program.exit, program.lines.join('\n')).toBe(0);
    expect(readdirSync(root, { recursive: true })).toEqual(before);
  });

  test('npm start there builds and deletes nothing', () => {
    const { scripts } = JSON.parse(
      readFileSync(join(project, 'node_modules', 'posthorn', 'package.json'), 'utf8'),
    );
    expect(scripts.start).toBe('node dist/src/cli/bin.js demo');
    expect(scripts).not.toHaveProperty('prestart');
    expect(scripts).not.toHaveProperty('poststart');
  });
});

/** Ids are new each time, and shortened on the page; durations differ. */
function withoutDetails(printed: string): string {
  return printed
    .replaceAll(/evt_[\w-]+/g, 'evt_')
    .replaceAll(/\d+ ms/g, 'ms')
    .trim();
}
