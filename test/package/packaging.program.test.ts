import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { readme } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { type InstalledPackage, installPackage, packed } from '../support/installed-package.ts';
import { untilListening } from '../support/until-listening.ts';

/** The README's first commands: they install the package, and then what its first snippet needs. */
const [{ code: commands = '' } = {}] = readme.blocks.filter(({ language }) => language === 'sh');
const [install = '', ...otherCommands] = commands.trim().split('\n');
const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
const specifiers = subpaths.map((path) => path.replace('.', 'posthorn'));
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
let tarball: string;

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

// In a hook of its own: each has a time limit.
beforeAll(() => void packed());

beforeAll(() => {
  installed = installPackage(install);
  ({ project, tarball } = installed);
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
      loaded = JSON.parse(run('node', [...flags, '-e', program], project));
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
    expect(run('node', ['--input-type=commonjs', '-e', program], project)).toBe('3.1.1\n');
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
    expect(run('node', ['--input-type=module', '-e', program], project)).toBe('processed\n');
  });

  /** Starts its program; ends it with the test. */
  function start(...args: readonly string[]): ChildProgram {
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    const program = startProgram(bin, { PATH: process.env.PATH, SIGNING_KEY: 'k' }, project, args);
    onTestFinished(() => program.kill('SIGKILL'));
    return program;
  }

  test('its program helps, and knows its version', () => {
    expect(run('npx', ['posthorn', 'help'], project)).toMatch('Usage: posthorn ');
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    expect(run(bin, ['--version'], project)).toBe(`${manifest.version}\n`);
  });

  test('the commands that it prints can be pasted, however it was started', () => {
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    const example = (command: string, ...args: readonly string[]): string | undefined =>
      /(?<=\$ ).*posthorn demo$/m.exec(run(command, [...args, 'demo', '--help'], project))?.[0];
    const agent = (name: string): readonly string[] => [`npm_config_user_agent=${name}`, bin];
    expect(example('npx', 'posthorn')).toBe('npx posthorn demo');
    const plain = ['-u', 'npm_config_user_agent'];
    // As in an image without npm. A shell that finds the program, or not even node, is told so.
    expect(example('env', ...plain, bin)).toBe('node node_modules/.bin/posthorn demo');
    const path = `${join(project, 'node_modules', '.bin')}:${process.env.PATH}`;
    expect(example('env', ...plain, `PATH=${path}`, bin)).toBe('posthorn demo');
    expect(example('env', ...plain, 'PATH=/nowhere', process.execPath, bin)).toBe(
      `${process.execPath} node_modules/.bin/posthorn demo`,
    );
    expect(example('env', ...agent('pnpm/10.34.9 npm/? node/v20.20.2'))).toBe('pnpm exec posthorn demo');
    expect(example('env', ...agent('yarn/1.22.22 npm/? node/v20.20.2'))).toBe('yarn posthorn demo');
    expect(example('env', ...agent('bun/1.3.0 npm/? node/v24.3.0'))).toBe('bunx posthorn demo');
    const downloaded = join(project, 'dlx-1', 'node_modules', '.bin');
    mkdirSync(downloaded, { recursive: true });
    symlinkSync(realpathSync(bin), join(downloaded, 'posthorn'));
    const dlx = ['npm_config_user_agent=pnpm/10.34.9', join(downloaded, 'posthorn')];
    expect(example('env', ...dlx)).toBe('pnpm dlx posthorn demo');
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

  describe('its types', () => {
    /** Compiles files without output; returns a line for each error: `pools.ts(3,4): error …`. */
    function compile(files: readonly string[], ...options: readonly string[]): readonly string[] {
      const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
      const typeRoots = join(packageRoot, 'node_modules', '@types');
      const common = ['--noEmit', '--strict', '--module', 'nodenext', '--pretty', 'false'];
      const types = ['--typeRoots', typeRoots, '--types', 'node'];
      const { status, stdout } = spawnSync(
        process.execPath,
        [tsc, ...common, ...types, ...options, ...files],
        {
          cwd: project,
          encoding: 'utf8',
        },
      );
      const errors = stdout.split('\n').filter((line) => line !== '');
      return status === 0 || errors.length > 0 ? errors : [`tsc ended with ${status}`];
    }

    test('compile in a strict project without those of Express', () => {
      // Its types are made of those of NestJS; test/matrix compiles them.
      const imports = specifiers
        .filter((name) => name !== 'posthorn/nestjs')
        .map((name, index) => `import * as m${index} from '${name}'; void m${index};`);
      writeFileSync(join(project, 'use.ts'), imports.join('\n'));
      expect(compile(['use.ts'])).toEqual([]);
    });

    describe('in the strictest project', () => {
      /** Packages of the tests that are linked into the project meanwhile. */
      const names = ['redis', 'redis-5', '@upstash/redis', '@aws-sdk/client-dynamodb'];
      const linked = (name: string): string => join(project, 'node_modules', name);
      const inPackage = (...path: readonly string[]): string =>
        JSON.stringify(join(packageRoot, 'node_modules', ...path));
      let errors: readonly string[];

      beforeAll(() => {
        for (const name of names) {
          mkdirSync(dirname(linked(name)), { recursive: true });
          symlinkSync(join(packageRoot, 'node_modules', name), linked(name));
        }
        for (const [file, source] of Object.entries(sources)) writeFileSync(join(project, file), source);
        const strictest = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
        errors = compile(Object.keys(sources), ...strictest);
      });

      afterAll(() => {
        for (const name of names) rmSync(linked(name));
      });

      const withIoredis = (name: string): string => `
        import { Cluster, Redis } from ${inPackage(name, 'built', 'index.js')};
        import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
        class Wrapper {
          status = 'ready';
          options = { url: 'redis://' };
          async eval(): Promise<unknown> { return undefined; }
          async evalsha(): Promise<unknown> { return undefined; }
          disconnect(): void {}
        }
        for (const client of [new Redis(), new Cluster([]), new Wrapper()]) {
          createRedisStore(client, { scope: 'a' });
          createRedisDeadLetters(client, { scope: 'a' });
        }`;
      const sources = {
        'ioredis.ts': withIoredis('ioredis'),
        'ioredis-5.ts': withIoredis('ioredis-5'),
        'other-clients.ts': `
          import { DynamoDB, DynamoDBClient } from '@aws-sdk/client-dynamodb';
          import { Redis } from '@upstash/redis';
          import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
          import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
          import { createClient, createCluster, createSentinel } from 'redis';
          import { createClient as createClient5, createSentinel as createSentinel5 } from 'redis-5';
          const sentinel = { name: 'primary', sentinelRootNodes: [] };
          const clients = [
            createClient(), createClient({ RESP: 3 }), createCluster({ rootNodes: [] }), createSentinel(sentinel),
            createClient5(), createSentinel5(sentinel), Redis.fromEnv(),
          ] as const;
          for (const client of clients) {
            createRedisStore(client, { scope: 'a' });
            createRedisDeadLetters(client, { scope: 'a' });
          }
          for (const client of [new DynamoDBClient({}), new DynamoDB({})]) {
            createDynamoStore(client, { table: 'posthorn', scope: 'a' });
            createDynamoDeadLetters(client, { table: 'posthorn', scope: 'a' });
          }`,
        'registers.ts': `
          import { type OpenMetricsContentType, register, Registry } from ${inPackage('prom-client', 'index.js')};
          import { createReceiver } from 'posthorn';
          import { observeWithPrometheus } from 'posthorn/prometheus';
          const receiver = createReceiver({ signingKey: 'k' });
          observeWithPrometheus(receiver);
          observeWithPrometheus(receiver, { register });
          observeWithPrometheus(receiver, { register: new Registry<OpenMetricsContentType>() });`,
        'pools.ts': `
          import { Pool } from ${inPackage('@types', 'pg', 'index.js')};
          import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
          const pool = new Pool();
          void migratePostgres(pool);
          createPostgresStore(pool, { scope: 'a' });
          createPostgresDeadLetters(pool, { scope: 'a', schema: 'b' });`,
        'wrong.ts': `
          import { createRedisStore } from 'posthorn/redis';
          createRedisStore({}, { scope: 'a' });`,
      };

      test.each([
        { file: 'ioredis.ts', what: 'clients of ioredis' },
        { file: 'ioredis-5.ts', what: 'clients of ioredis 5' },
        { file: 'other-clients.ts', what: 'clients of node-redis, Upstash and AWS' },
        { file: 'registers.ts', what: 'a register of prom-client' },
        { file: 'pools.ts', what: 'a pool of pg' },
      ])('take $what', ({ file }) => {
        expect(errors.filter((line) => line.startsWith(`${file}(`))).toEqual([]);
      });

      test('refuse what is no client, and nothing else', () => {
        expect(errors.filter((line) => !line.startsWith(' '))).toEqual([
          expect.stringMatching(/^wrong\.ts\(\d+,\d+\): error TS\d+: /),
        ]);
      });
    });
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
    const [, send = ''] = /^`(SIGNING_KEY=secret npx posthorn send [^`]+)`/m.exec(readme.text) ?? [];
    const environment = { PATH: process.env.PATH, SIGNING_KEY: 'secret' };
    const server = startProgram(join(project, 'server.js'), environment, project);
    onTestFinished(() => server.kill('SIGKILL'));
    await untilListening(port);
    const sent = installed.run('sh', ['-c', send.replaceAll('3000', String(port))]);
    expect(sent).toMatch(/processed[\s\S]*duplicate/);
    await server.line(/^evt_\S+ 1250$/);

    const list = ['-c', 'SIGNING_KEY=secret npx posthorn dead-letters list --receiver ./receiver.js'];
    expect(installed.run('sh', list)).toMatch(/^0 /);
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

describe('the package is well formed', () => {
  test('has no script that npm would run, or ask about, where it is installed', () => {
    const { scripts } = JSON.parse(
      readFileSync(join(project, 'node_modules', 'posthorn', 'package.json'), 'utf8'),
    );
    expect(scripts).toHaveProperty('start');
    for (const name of ['preinstall', 'install', 'postinstall', 'prepublish', 'prepare'])
      expect(scripts).not.toHaveProperty(name);
  });

  test('npm says nothing about its scripts when it is installed', () => {
    expect(install).toMatch(/^npm install /);
    expect(installed.printed.stdout).toMatch(/^\nadded \d+ packages in /);
    expect(installed.printed.stderr).not.toMatch(/script/);
  });

  test('says where its source is, and where to tell of a fault', () => {
    expect(manifest.repository.url).toBe('git+https://github.com/posthorn/posthorn.git');
    expect(manifest.homepage).toMatch('https://github.com/posthorn/posthorn');
    expect(manifest.bugs).toMatch('https://github.com/posthorn/posthorn');
  });

  test('publint is clean', () => {
    run('node_modules/.bin/publint', ['run', tarball, '--strict'], packageRoot);
  });
});
