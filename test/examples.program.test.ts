import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { letter, temporaryDirectory } from './cli/letters.ts';
import { type PostgresServer, Servers as PostgresServers } from './postgres/servers.ts';
import { Servers } from './redis/servers.ts';
import { type ChildProgram, packageRoot, startProgram } from './support/child-program.ts';

const credentials = [
  { name: 'no credentials', environment: {} },
  { name: 'BASIC', environment: { BASIC_USERNAME: 'billing', BASIC_PASSWORD: `it's "secret" $HOME` } },
  { name: 'BEARER', environment: { BEARER_TOKEN: 'to-ken_1' } },
];

const names = ['express', 'node-http', 'cluster', 'postgres'];

let directory: string;
let servers: Servers;
let redisUrl: string;
let postgresServers: PostgresServers;
let postgres: PostgresServer;
let postgresUrl: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'posthorn-examples-'));
  servers = new Servers();
  postgresServers = new PostgresServers();
  postgres = await postgresServers.single();
  postgresUrl = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
  redisUrl = `redis://127.0.0.1:${(await servers.single()).port}`;
});
afterAll(async () => {
  await Promise.all([servers.stop(), postgresServers.stop()]);
  rmSync(directory, { recursive: true });
});

function shell(command: string): Record<string, unknown> {
  return JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', timeout: 18_000 }));
}

async function withExample(
  name: string,
  environment: NodeJS.ProcessEnv,
  use: (program: ChildProgram, command: string) => Promise<void>,
): Promise<void> {
  const program = startProgram(
    join(packageRoot, 'dist', 'examples', `${name}.js`),
    { PATH: process.env.PATH, PORT: '0', REDIS_URL: redisUrl, POSTGRES_URL: postgresUrl, ...environment },
    directory,
  );
  try {
    await program.line(/^listening on http:\/\/127\.0\.0\.1:\d+\/webhooks$/);
    await use(program, await program.line(/^body=/));
  } finally {
    program.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  }
}

describe.each(names)('examples/%s.ts', (name) => {
  test.each(credentials)('its printed command works with $name', async ({ environment }) => {
    await withExample(name, environment, async (program, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      await program.line(/ transfer\.succeeded evt_\S+ \{"id":"TR_sample"/);
      expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
      expect(shell(command.replace('--data-raw "$body"', '--data-raw "$body "'))).toMatchObject({
        status: 403,
      });
    });
  });

  test('it takes the signing key from the environment, and refuses other credentials', async () => {
    const environment = { SIGNING_KEY: `o'key`, BEARER_TOKEN: 'token' };
    await withExample(name, environment, async (program, command) => {
      expect(program.lines.join('\n')).not.toContain('made up');
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      expect(shell(command.replace('Bearer token', 'Bearer other'))).toMatchObject({ status: 401 });
    });
  });
});

describe('examples/cluster.ts', () => {
  test('its workers share what they have handled, also after one was killed', async () => {
    await withExample('cluster', { WORKERS: '3' }, async (program, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      const pid = (await program.line(/^worker \d+$/)).replace('worker ', '');
      process.kill(Number(pid), 'SIGKILL');
      // Node.js loses a connection that was on its way to a worker that died; like the service, the sender
      // tries again.
      const patient = command.replace(
        'curl ',
        'curl --max-time 2 --retry 6 --retry-all-errors --retry-delay 1 ',
      );
      for (let count = 0; count < 6; count += 1) {
        expect(shell(patient)).toMatchObject({ outcome: 'duplicate' });
      }
    });
  });
});

describe('examples/queue.ts', () => {
  test('its receiver acknowledges, its worker handles, and both end on a signal', async () => {
    await withExample('queue', { SIGNING_KEY: 'key' }, async (receiver, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'queued' });
      expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
      const worker = startProgram(
        join(packageRoot, 'dist', 'examples', 'queue.js'),
        { PATH: process.env.PATH, SIGNING_KEY: 'key', REDIS_URL: redisUrl },
        directory,
        ['worker'],
      );
      await worker.line(/ transfer\.succeeded evt_\S+ \{"id":"TR_sample"/);
      worker.kill('SIGTERM');
      expect(await worker.exit, worker.lines.join('\n')).toBe(0);
      expect(receiver.lines.filter((line) => / transfer\.succeeded evt_/.test(line))).toEqual([]);
    });
  });
});

describe('examples/postgres.ts', () => {
  test('its ledger has an event once, also where the store has forgotten it', async () => {
    await withExample('postgres', {}, async (_program, command) => {
      const { id } = shell(command);
      postgres.sql('delete from posthorn.events');
      expect(shell(command)).toMatchObject({ outcome: 'processed', id });
      expect(postgres.sql(`select count(*) from ledger where event_id = '${id}'`)).toBe('1');
      expect(postgres.sql("select state from transfers where id = 'TR_sample'")).toBe('SUCCEEDED');
    });
  });
});

test('the letters that an example leaves in a clone are neither linted nor committed', async () => {
  const clone = temporaryDirectory();
  await createFileDeadLetters(join(clone, 'dead-letters')).put(letter('evt_1'));
  const [file = ''] = readdirSync(join(clone, 'dead-letters'));
  for (const name of ['biome.json', '.gitignore', 'package.json']) {
    copyFileSync(join(packageRoot, name), join(clone, name));
  }
  const lint = (...paths: string[]) =>
    spawnSync(join(packageRoot, 'node_modules/.bin/biome'), ['check', '--error-on-warnings', ...paths], {
      cwd: clone,
      encoding: 'utf8',
    });
  writeFileSync(join(clone, 'linted.json'), '{"a" : 1}\n');
  expect(lint('linted.json').status, 'biome looks at what is here').toBe(1);
  rmSync(join(clone, 'linted.json'));
  const { status, stdout, stderr } = lint('.');
  expect(status, `${stdout}${stderr}`).toBe(0);
  execFileSync('git', ['init', '--quiet'], { cwd: clone });
  for (const path of ['dist/', `dead-letters/${file}`]) {
    execFileSync('git', ['check-ignore', '--quiet', path], { cwd: clone }); // throws for what is not
  }
});
