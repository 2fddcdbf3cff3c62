import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';
import { createRedisDeadLetters } from 'posthorn/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { letter } from '../cli/letters.ts';
import { startSandbox } from '../cli/sandboxed.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { readDocument } from '../support/documents.ts';
import { type InstalledPackage, installPackage, packed } from '../support/installed-package.ts';

/** The user that runs the commands if the tests run as root, whom no mode would stop. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const page = readDocument('docs/operations.md');

const RECEIVER = `
  import { createReceiver } from 'posthorn';
  import { createFileDeadLetters } from 'posthorn/file';
  export const receiver = createReceiver({
    signingKey: process.env.SIGNING_KEY,
    deadLetters: createFileDeadLetters('dead-letters'),
  });
  receiver.on('transfer.*', (event) => console.log('booking', event.id), { name: 'book' });`;

/** Stands for kubectl: runs what follows `--` as the user of the image, in its folder and environment. */
const kubectl = (app: string, env: NodeJS.ProcessEnv): string => `#!${process.execPath}
  const command = process.argv.slice(process.argv.indexOf('--') + 1);
  const isDistroless = command[0] === '/nodejs/bin/node';
  const { status } = require('node:child_process').spawnSync(
    isDistroless ? process.execPath : command[0],
    command.slice(1),
    {
      cwd: ${JSON.stringify(app)},
      env: { ...${JSON.stringify(env)}, ...(isDistroless && { PATH: '/bin-of-the-image' }) },
      stdio: 'inherit',
      ${isRoot ? `uid: ${NOBODY}, gid: ${NOBODY},` : ''}
    },
  );
  process.exitCode = status ?? 255;`;

// In a hook of its own: each has a time limit.
beforeAll(() => void packed());

describe('the commands of an on-call in a production image', () => {
  const fixture = useRedis();
  let image: InstalledPackage;
  let folder: string;

  beforeAll(() => {
    image = installPackage('npm install posthorn redis@6 --omit=dev');
    const app = image.project;
    mkdirSync(join(app, 'dist'));
    writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}');
    writeFileSync(join(app, 'dist', 'receiver.js'), RECEIVER);
    folder = mkdtempSync(join(tmpdir(), 'posthorn-image-'));
    mkdirSync(join(folder, 'bin'));
    symlinkSync(process.execPath, join(folder, 'bin', 'node'));
    for (const path of [app, folder]) execFileSync('chmod', ['-R', 'a+rX,a-w', path]);
    chmodSync(folder, 0o755);
  });

  afterAll(() => {
    execFileSync('chmod', ['-R', 'u+w', image.project, folder]);
    rmSync(folder, { recursive: true });
    image.remove();
  });

  /** The volume with the dead letters, which the user of the image may write to. */
  beforeEach(async () => {
    const volume = join(image.project, 'dead-letters');
    chmodSync(image.project, 0o755);
    rmSync(volume, { recursive: true, force: true });
    mkdirSync(volume, { mode: 0o700 });
    const deadLetters = createFileDeadLetters(volume);
    const ids = ['evt_1', 'evt_2', 'evt_3'];
    for (const [index, id] of ids.entries()) {
      await deadLetters.put(letter(id, { type: 'transfer.failed', parkedAt: Date.now() - 1_000 + index }));
    }
    if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, volume]);
    chmodSync(image.project, 0o555);
  });

  /** Runs lines of a shell on the machine of the on-call, which has a kubectl. */
  function onCall(lines: string, env: NodeJS.ProcessEnv = {}) {
    const inside = { PATH: join(folder, 'bin'), SIGNING_KEY: 'k', ...env };
    const machine = mkdtempSync(join(tmpdir(), 'posthorn-on-call-'));
    try {
      writeFileSync(join(machine, 'kubectl'), kubectl(image.project, inside), { mode: 0o755 });
      const PATH = `${machine}:${process.env.PATH}`;
      return spawnSync('sh', ['-ec', lines], { encoding: 'utf8', env: { PATH }, cwd: machine });
    } finally {
      rmSync(machine, { recursive: true });
    }
  }

  const [alerts = '', section = ''] = page.text.split('\n## In a container\n');
  const blocks = Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, code = '']) => code);
  const [reads = '', changes = '', withoutReceiver = '', distroless = '', pnpm = ''] = blocks;
  const [define = ''] = reads.split('\n');
  const redisUrl = (): NodeJS.ProcessEnv => ({ REDIS_URL: `redis://127.0.0.1:${fixture.redis.port}` });

  test('the image has Node.js and no other program, nothing to write to, and no ioredis', () => {
    expect(existsSync(join(image.project, 'node_modules', 'ioredis'))).toBe(false);
    const code = "try { fs.writeFileSync('x', '') } catch ({ code }) { console.log(code, process.env.HOME) }";
    const inside = 'kubectl exec -it deploy/billing --';
    expect(onCall(`${inside} node -e "${code}"`)).toMatchObject({ status: 0, stdout: 'EACCES undefined\n' });
    expect(onCall(`${inside} npx posthorn`)).toMatchObject({ status: 255 });
  });

  test('those with the receiver work to the letter', async () => {
    const { status, stdout, stderr } = onCall(`${reads}\n${changes}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /\n3 parked\n[\s\S]*\n3 would be replayed\n[\s\S]*\n1 dropped\n[\s\S]*\n2 replayed\n$/,
    );
    expect(readdirSync(join(image.project, 'dead-letters'))).toEqual([]);
  });

  test('those without a receiver work to the letter, with the client that is installed', async () => {
    const scope = 'billing-production';
    await createRedisDeadLetters(await fixture.connect(), { scope }).put(letter('evt_9'));
    const { status, stdout, stderr } = onCall(`${define}\n${withoutReceiver}`, redisUrl());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/ evt_9 after .*\n1 parked\n[\s\S]* evt_3 after .*\n3 parked\n$/);
  });

  test.each([
    { image: 'a distroless image', block: distroless },
    { image: 'an image made with pnpm', block: pnpm },
  ])('those for $image work to the letter', ({ block }) => {
    const { status, stdout, stderr } = onCall(block);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/\n3 parked\n$/);
  });

  const ofAlerts = alerts.match(/(?<=^|`)posthorn dead-letters [^`\n]*/gm) ?? [];
  test.each(ofAlerts)('the command of an alert works: %s', (command) => {
    const { status, stderr } = onCall(`${define}\n${command.replace('./receiver.js', './dist/receiver.js')}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('there are commands of alerts', () => {
    expect(ofAlerts.length).toBeGreaterThanOrEqual(8);
  });

  test('posthorn webhooks list works', async () => {
    const { env, create } = await startSandbox();
    await create('https://billing.example.com/webhooks');
    const { status, stdout } = onCall(`${define}\nposthorn webhooks list`, env);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('https://billing.') });
  });

  test.each([
    { image: 'an image with node in its PATH', start: define, begins: 'node node_modules/.bin/posthorn ' },
    {
      image: 'a distroless image',
      start: distroless.split('\n')[0],
      begins: `${process.execPath} node_modules/.bin/posthorn `,
    },
  ])('the command that goes on works in $image as it is printed', ({ start, begins }) => {
    const replay = 'posthorn dead-letters replay --all --receiver ./dist/receiver.js --limit 2';
    const { stdout } = onCall(`${start}\n${replay}`);
    const [, next = ''] = stdout.trimEnd().split('the rest: ');
    expect(next.startsWith(begins)).toBe(true);
    const ended = onCall(`kubectl exec -it deploy/billing -- ${next}`);
    expect(ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/\n1 replayed\n$/) });
  });
});
