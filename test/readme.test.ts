import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisInstalled } from './redis/installed.ts';
import { Servers } from './redis/servers.ts';
import { freePort, packageRoot, startProgram } from './support/child-program.ts';

interface Snippet {
  readonly title: string;
  readonly name: string;
  readonly code: string;
}

function snippetsOf(document: string, prefix: string): readonly Snippet[] {
  return [...document.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ''], index) => ({
    title: `${index + 1}: ${code.includes('listen(3000)') ? 'a server' : 'a program'}`,
    name: `${prefix}-${index + 1}`,
    code,
  }));
}

const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
const snippets = snippetsOf(readme, 'snippet');
const runnable = snippets.filter(({ code }) => isRedisInstalled() || !code.includes('ioredis'));
/** These connect to hosts of the reader's, so they are compiled only. */
const redisSnippets = snippetsOf(readFileSync(join(packageRoot, 'docs', 'redis.md'), 'utf8'), 'redis');

// Inside the package, so that the snippets import it by its name: what is built, not the sources.
const folder = join(packageRoot, 'dist', 'readme');
const key = 'readme-key';
const ports = new Map<string, number>();
let directory: string;
let servers: Servers;
let redisUrl: string;

beforeAll(async () => {
  servers = new Servers();
  if (isRedisInstalled()) redisUrl = `redis://127.0.0.1:${(await servers.single()).port}`;
  directory = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  mkdirSync(folder, { recursive: true });
  for (const { name, code } of [...snippets, ...redisSnippets]) {
    const port = await freePort();
    ports.set(name, port);
    writeFileSync(join(folder, `${name}.ts`), code.replaceAll('3000', String(port)));
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilation));
  execFileSync(join(packageRoot, 'node_modules', '.bin', 'tsc'), ['-p', folder], { encoding: 'utf8' });
});

afterAll(async () => {
  await servers.stop();
  rmSync(directory, { recursive: true });
});

const compilation = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    rootDir: '.',
    outDir: 'out',
  },
  include: ['*.ts'],
};

function start(name: string): ReturnType<typeof startProgram> {
  return startProgram(
    join(folder, 'out', `${name}.js`),
    { ...process.env, SIGNING_KEY: key, REDIS_URL: redisUrl },
    directory,
  );
}

describe('the snippets of the README compile and run', () => {
  test('there are some', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(5);
    expect(redisSnippets.length).toBeGreaterThanOrEqual(3);
  });

  test.each(runnable.filter(({ code }) => code.includes('listen(3000)')))('$title', async ({ name }) => {
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

  test.each(runnable.filter(({ code }) => !code.includes('listen(3000)')))('$title', async ({ name }) => {
    const program = start(name);
    expect(await program.exit, program.lines.join('\n')).toBe(0);
  });
});

describe('the commands of the README exist', () => {
  test.each(['npm ci && npm start', 'npm ci && npm test'])('%s', (command) => {
    expect(readme).toContain(command);
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(scripts).toHaveProperty(command.replace(/.*npm /, ''));
  });
});

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
