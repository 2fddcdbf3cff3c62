import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { packageRoot } from '../support/child-program.ts';
import { type InstalledPackage, installPackage, packed } from '../support/installed-package.ts';
import { specifiers } from './specifiers.ts';

let installed: InstalledPackage;
let project: string;
let tarball: string;

// In a hook of its own: each has a time limit.
beforeAll(() => void packed());

beforeAll(() => {
  installed = installPackage();
  ({ project, tarball } = installed);
});

afterAll(() => installed.remove());

describe('the packed tarball, installed in an empty project', () => {
  test('the commands that it prints can be pasted, however it was started', () => {
    const bin = join(project, 'node_modules', '.bin', 'posthorn');
    const example = (command: string, ...args: readonly string[]): string | undefined =>
      /(?<=\$ ).*posthorn demo$/m.exec(installed.run(command, [...args, 'demo', '--help']))?.[0];
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

  describe('its types', () => {
    /** Compiles files without output; returns a line for each error: `pools.ts(3,4): error …`. */
    function compile(files: readonly string[], ...options: readonly string[]): readonly string[] {
      const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
      const typeRoots = join(packageRoot, 'node_modules', '@types');
      const common = ['--noEmit', '--strict', '--module', 'nodenext', '--pretty', 'false'];
      const types = ['--typeRoots', typeRoots, '--types', 'node'];
      const args = [tsc, ...common, ...types, ...options, ...files];
      const { status, stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
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
    expect(installed.printed.stdout).toMatch(/^\nadded \d+ packages in /);
    expect(installed.printed.stderr).not.toMatch(/script/);
  });

  test('says where its source is, and where to tell of a fault', () => {
    expect(manifest.repository.url).toBe('git+https://github.com/posthorn/posthorn.git');
    expect(manifest.homepage).toMatch('https://github.com/posthorn/posthorn');
    expect(manifest.bugs).toMatch('https://github.com/posthorn/posthorn');
  });

  test('publint is clean', () => {
    const publint = ['run', tarball, '--strict'];
    execFileSync('node_modules/.bin/publint', publint, { cwd: packageRoot, stdio: 'pipe' });
  });
});
