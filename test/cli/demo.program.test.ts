import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Servers } from '../stores/redis/servers.ts';
import { type ChildProgram, packageRoot, startCommand } from '../support/child-program.ts';
import { readme } from '../support/documents.ts';
import { WAIT_LIMIT_MS } from '../support/limits.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { jsonLines, posthorn, startPosthorn } from './posthorn.ts';

let servers: Servers;
beforeAll(() => {
  servers = new Servers();
});
afterAll(() => servers.stop());

/** The folder of the letters, removed with the test. */
async function folderOf(program: ChildProgram): Promise<string> {
  const line = await program.line(/dead letters in /);
  const [folder = ''] = /(?<=dead letters in )[^)"]+/.exec(line) ?? [];
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts the demo in the folder `cwd`; resolves once the scenario has ended. */
async function startDemo(
  environment: NodeJS.ProcessEnv = {},
  cwd: string = temporaryDirectory(),
): Promise<{ program: ChildProgram; url: string }> {
  const program = startPosthorn(['demo'], { PORT: '0', ...environment }, cwd);
  const [, url = ''] = /^listening on (http:\S+)$/.exec(await program.line(/^listening on /)) ?? [];
  return { program, url };
}

async function end(program: ChildProgram, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  program.kill(signal);
  expect(await program.exit, program.lines.join('\n')).toBe(0);
}

/** Clock, status, outcome, and the attempt if there was one. A busy machine may take some seconds more. */
function reportsOf({ lines }: ChildProgram): string[] {
  return lines
    .filter((line) => line.startsWith('+'))
    .map((line) => line.replaceAll(/ {2}(evt_\S+|a handler failed: .*|the signature .*)/g, ''))
    .map((line) => line.replace(/:\d\d/, ''));
}

/** Ids are new each time, and shortened in the README. A busy machine may take some seconds more. */
function withoutId(line: string): string {
  return line.replace(/evt_[\w-]+/, 'evt_').replace(/^(\+\d+):\d\d/, '$1');
}

const REPORTS = [
  '+0  200  processed  transfer.succeeded  attempt 1',
  '+0  200  duplicate  transfer.succeeded',
  '+0  403  rejected',
  '+0  500  failed  settlement.approved  attempt 1',
  '+1  200  processed  settlement.approved  attempt 2',
  '+1  500  failed  dispute.created  attempt 1',
  '+2  500  failed  dispute.created  attempt 2',
  '+7  500  failed  dispute.created  attempt 3',
  '+22  200  parked  dispute.created  attempt 4 (the last)',
];

describe('posthorn demo', () => {
  test('tells the story of an event, a duplicate, a forgery, a retry and a poison event', async () => {
    const { program } = await startDemo();
    const folder = await folderOf(program);
    expect(reportsOf(program)).toEqual(REPORTS);
    const text = program.lines.join('\n');
    expect(text).toMatch(/webhook WH\w+ created through the client, with BASIC credentials/);
    expect(text).toMatch(/the webhook is still enabled; evt_\S+ waits in the dead letters/);
    expect(readdirSync(folder)).toHaveLength(1);
    const [shown = ''] = readme.blocks.flatMap(({ code }) => (code.includes('+22:00') ? [code] : []));
    const printed = program.lines.map(withoutId);
    expect(
      shown
        .trimEnd()
        .split('\n')
        .map(withoutId)
        .filter((line) => !printed.includes(line)),
    ).toEqual([]);
    await end(program);
  });

  test('begins with the page, which has the story, and ends with its sum', async () => {
    const { program } = await startDemo();
    await folderOf(program);
    const [, page = ''] = /^page: (http:\S+\/)$/.exec(program.lines[0] ?? '') ?? [];
    expect(await (await fetch(page)).text()).toContain('<title>posthorn sandbox</title>');
    const deliveries = await (await fetch(`${page}sandbox/deliveries`)).json();
    expect(deliveries).toHaveLength(REPORTS.length);
    expect(await program.line(/^9 deliveries: /)).toBe(
      '9 deliveries: 2 processed, 1 duplicate, 1 rejected, 4 failed, 1 parked. ' +
        `Each with request and answer: ${page}`,
    );
    await end(program);
  });

  test('twice in one folder: nothing is left there, and neither has the letters of the other', async () => {
    const cwd = temporaryDirectory();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const { program } = await startDemo({}, cwd);
      const folder = await folderOf(program);
      const [list = ''] = program.lines.filter((line) => line.includes(' dead-letters list '));
      await end(program, signal);
      // The letters stay, so that the commands can be pasted after the demo has ended.
      const { stdout } = await posthorn(list.trim().split(' ').slice(1));
      expect(stdout).toMatch(/ dispute\.created evt_\S+ after 4 attempts, .*\n1 parked\n$/);
      expect(readdirSync(folder)).toHaveLength(1);
      expect(readdirSync(cwd)).toEqual([]);
    }
  });

  test('takes its signing key and its credentials from the environment', async () => {
    const basic = { username: 'billing', password: 'pass "word"' };
    const environment = {
      SIGNING_KEY: `o'key`,
      BASIC_USERNAME: basic.username,
      BASIC_PASSWORD: basic.password,
    };
    const { program, url } = await startDemo(environment);
    await folderOf(program);
    expect(reportsOf(program)).toEqual(REPORTS);
    const event = createEvent('transfer.succeeded');
    const signing = { key: `o'key`, authentication: { type: 'BASIC', basic } } as const;
    expect(await (await deliver(url, event, signing)).json()).toMatchObject({ outcome: 'processed' });
    expect((await deliver(url, event, { key: `o'key` })).status).toBe(401);
    expect((await deliver(url, event, { ...signing, key: 'another' })).status).toBe(403);
    await end(program);
  });

  test('a port that is asked for must be free, or it says so', async () => {
    const { port: PORT } = new URL(await listenUntilTheEnd(createServer()));
    expect(await posthorn(['demo'], { env: { PORT } })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^posthorn: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*--port; 0 takes a free one/,
      ),
    });
  });

  test('a folder that cannot be made is named', async () => {
    const env = { PORT: '0', TMPDIR: '/not-there' };
    expect(await posthorn(['demo'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the dead letters need a folder: ENOENT.*set TMPDIR/),
    });
  });

  test('two at once: the second takes other ports', async () => {
    const programs = [startPosthorn(['demo']), startPosthorn(['demo'])];
    const addresses = programs.flatMap((program) => [
      program.line(/^page: /),
      program.line(/^listening on /),
    ]);
    expect(new Set(await Promise.all(addresses)).size).toBe(4);
    for (const program of programs) {
      await folderOf(program);
      await end(program);
    }
  });

  test('prints the same as lines of JSON', async () => {
    const program = startPosthorn(['demo', '--port', '0', '--json']);
    await program.line(/"listening"/);
    const lines = jsonLines({ stdout: program.lines.join('\n') });
    const kinds = 'page receiver step delivery delivery step delivery step delivery delivery step';
    expect(lines.map(({ kind }) => kind).join(' ')).toBe(
      `${kinds} delivery delivery delivery delivery summary listening`,
    );
    await folderOf(program);
    expect(lines.at(-2)).toMatchObject({ enabled: true, deliveries: 9, outcomes: { processed: 2 } });
    await end(program);
  });

  test('ends on a signal that comes soon after its start as well', async () => {
    const program = startPosthorn(['demo', '--port', '0']);
    await folderOf(program);
    await end(program, 'SIGINT');
  });

  test('with REDIS_URL it keeps everything in Redis', async () => {
    const redisUrl = `redis://127.0.0.1:${(await servers.single()).port}`;
    const { program } = await startDemo({ REDIS_URL: redisUrl });
    expect(program.lines.join('\n')).toContain('(Redis, scope posthorn-demo)');
    expect(reportsOf(program)).toEqual(REPORTS);
    const keys = execFileSync('redis-cli', ['-u', redisUrl, '--scan'], { encoding: 'utf8' });
    expect(keys).toMatch(/posthorn-demo/);
    await end(program);
  });
});

describe('npm start', () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

  /** Runs a command as it was printed. */
  const shell = (command: string): string =>
    execFileSync('sh', ['-c', command], {
      cwd: packageRoot,
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
      timeout: WAIT_LIMIT_MS,
    });

  test('is the demo, whose commands work as printed', async () => {
    // What npm sets. npm itself would hand a signal to the shell alone.
    const env = { PATH: process.env.PATH, PORT: '0', npm_config_user_agent: 'npm/11.0.0 node/v20.19.0' };
    const program = startCommand('sh', ['-c', `exec ${scripts.start}`], env, packageRoot);
    onTestFinished(() => program.kill('SIGKILL'));
    await program.line(/^listening on /);
    await folderOf(program);
    const commands = program.lines.filter((line) => line.startsWith('  ')).map((line) => line.trim());
    const named = (name: string): string => commands.find((command) => command.includes(name)) ?? '';
    expect(shell(named(' dead-letters list '))).toMatch(/ dispute\.created evt_\S+ after 4 attempts/);
    expect(shell(named(' dead-letters show '))).toContain('message a handler failed: no such merchant');
    expect(shell(named(' dead-letters replay '))).toContain('--receiver <module>');
    expect(shell(named(' dead-letters drop '))).toMatch(/^dropped dispute\.created evt_\S+\n1 dropped\n$/);

    expect(shell(named(' trigger transfer.succeeded'))).toMatch(/ 200 processed /);
    expect(shell(named(' --duplicate'))).toMatch(/ 200 processed [\s\S]* 200 duplicate /);
    await program.line(/^\+2[2-9]:\d\d {2}200 {2}duplicate {2}transfer\.succeeded/);
    expect(shell(named(' advance 21m'))).toMatch(/the sandbox's clock is at /);
    expect(shell(named(' deliveries')).trim().split('\n')).toHaveLength(REPORTS.length + 3);
    await end(program);
  });
});
