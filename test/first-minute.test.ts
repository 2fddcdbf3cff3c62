import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Servers } from './redis/servers.ts';
import { type ChildProgram, packageRoot, startProgram } from './support/child-program.ts';

let directory: string;
let servers: Servers;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'posthorn-start-'));
  servers = new Servers();
});
afterAll(async () => {
  await servers.stop();
  rmSync(directory, { recursive: true });
});

async function withStart(
  environment: NodeJS.ProcessEnv,
  use: (program: ChildProgram) => Promise<void> | void,
): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const path = join(packageRoot, scripts.start.replace('node ', ''));
  const program = startProgram(path, { PATH: process.env.PATH, PORT: '0', ...environment }, directory);
  try {
    await program.line(/^listening on http:\/\/127\.0\.0\.1:\d+\/webhooks$/);
    await use(program);
  } finally {
    program.kill('SIGTERM');
    expect(await program.exit, program.lines.join('\n')).toBe(0);
  }
}

function shell(command: string): Record<string, unknown> {
  return JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', timeout: 18_000 }));
}

/** Clock, status, outcome, and the attempt where there was one. */
function storyOf({ lines }: ChildProgram): string[] {
  return lines
    .filter((line) => line.startsWith('+'))
    .map((line) => line.replaceAll(/ {2}(evt_\S+|a handler failed: .*|the signature .*)/g, ''));
}

const STORY = [
  '+0:00  200  processed  transfer.succeeded  attempt 1',
  '+0:00  200  duplicate  transfer.succeeded',
  '+0:00  403  rejected',
  '+0:00  500  failed  settlement.approved  attempt 1',
  '+1:00  200  processed  settlement.approved  attempt 2',
  '+1:00  500  failed  dispute.created  attempt 1',
  '+2:00  500  failed  dispute.created  attempt 2',
  '+7:00  500  failed  dispute.created  attempt 3',
  '+22:00  200  parked  dispute.created  attempt 4 (the last)',
];

/** A second or two may pass between two lines on a busy machine. */
const inMinutes = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/:\d\d/, ':…'));

describe('npm start', () => {
  test('tells the story of an event, a duplicate, a forgery, a retry and a poison event', async () => {
    await withStart({}, (program) => {
      expect(inMinutes(storyOf(program))).toEqual(inMinutes(STORY));
      const text = program.lines.join('\n');
      expect(text).toMatch(/webhook WH\w+ created through the client, with BASIC credentials/);
      expect(text).toMatch(/the webhook is still enabled; evt_\S+ waits in the dead letters/);
      expect(readdirSync(join(directory, 'dead-letters'))).toHaveLength(1);
    });
  });

  test('begins with the page, which has the story, and ends with its sum', async () => {
    await withStart({}, async (program) => {
      const [, page = ''] = /^page: (http:\S+\/)$/.exec(program.lines[0] ?? '') ?? [];
      expect(await (await fetch(page)).text()).toContain('<title>posthorn sandbox</title>');
      const deliveries = await (await fetch(`${page}sandbox/deliveries`)).json();
      expect(deliveries).toHaveLength(STORY.length);
      expect(await program.line(/^9 deliveries: /)).toBe(
        '9 deliveries: 2 processed, 1 duplicate, 1 rejected, 4 failed, 1 parked. ' +
          `Each with request and answer: ${page}`,
      );
    });
  });

  test('its commands for the parked event work', async () => {
    rmSync(join(directory, 'dead-letters'), { recursive: true, force: true });
    await withStart({}, (program) => {
      const commands = program.lines.filter((line) => line.includes(' dead-letters '));
      const [listed, shown, dropped] = commands.map((command) =>
        execFileSync('sh', ['-c', command], { cwd: directory, encoding: 'utf8', stdio: 'pipe' }),
      );
      expect(listed).toMatch(/ dispute\.created evt_\S+ after 4 attempts, .*\n1 parked\n$/);
      expect(shown).toContain('message a handler failed: no such merchant');
      expect(dropped).toMatch(/^dropped dispute\.created evt_\S+\n1 dropped\n$/);
      expect(readdirSync(join(directory, 'dead-letters'))).toHaveLength(0);
    });
  });

  test('what it leaves behind is neither linted nor committed', async () => {
    await withStart({}, () => {});
    const [letter = ''] = readdirSync(join(directory, 'dead-letters'));
    for (const name of ['biome.json', '.gitignore', 'package.json']) {
      copyFileSync(join(packageRoot, name), join(directory, name));
    }
    const lint = (...paths: string[]) =>
      spawnSync(join(packageRoot, 'node_modules/.bin/biome'), ['check', '--error-on-warnings', ...paths], {
        cwd: directory,
        encoding: 'utf8',
      });
    writeFileSync(join(directory, 'linted.json'), '{"a" : 1}\n');
    expect(lint('linted.json').status, 'biome looks at what is here').toBe(1);
    rmSync(join(directory, 'linted.json'));
    const { status, stdout, stderr } = lint('.');
    expect(status, `${stdout}${stderr}`).toBe(0);
    execFileSync('git', ['init', '--quiet'], { cwd: directory });
    for (const path of ['dist/', `dead-letters/${letter}`]) {
      execFileSync('git', ['check-ignore', '--quiet', path], { cwd: directory }); // throws for what is not
    }
  });

  test('its commands work afterwards: an event of the sandbox, and one signed by openssl', async () => {
    await withStart({}, async (program) => {
      const { id } = shell(await program.line(/^curl .*\/sandbox\/events /));
      await program.line(
        new RegExp(`^\\+22:\\d\\d  200  processed  transfer\\.succeeded  ${id}  attempt 1$`),
      );
      const command = await program.line(/^body=/);
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
      expect(shell(command.replace('--data-raw "$body"', '--data-raw "$body "'))).toMatchObject({
        status: 403,
      });
    });
  });

  test('takes its signing key and its credentials from the environment', async () => {
    const environment = { SIGNING_KEY: `o'key`, BASIC_USERNAME: 'billing', BASIC_PASSWORD: 'pass "word"' };
    await withStart(environment, async (program) => {
      expect(program.lines.join('\n')).not.toContain('made up');
      const command = await program.line(/^body=/);
      expect(command).toContain(`-hmac 'o'\\''key'`);
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      expect(shell(command.replace('billing:', 'other:'))).toMatchObject({ status: 401 });
      expect(inMinutes(storyOf(program)).slice(0, STORY.length)).toEqual(inMinutes(STORY));
    });
  });

  test('with REDIS_URL it keeps everything in Redis', async () => {
    const redisUrl = `redis://127.0.0.1:${(await servers.single()).port}`;
    await withStart({ REDIS_URL: redisUrl }, (program) => {
      expect(program.lines.join('\n')).toContain('(Redis, scope example-development)');
      expect(inMinutes(storyOf(program))).toEqual(inMinutes(STORY));
    });
    const keys = execFileSync('redis-cli', ['-u', redisUrl, '--scan'], { encoding: 'utf8' });
    expect(keys).toMatch(/example-development/);
  });
});
