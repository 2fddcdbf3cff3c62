import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { expectDeliveries, KEY, openExample } from './example-project.ts';

const PACKAGES = [`runtime@npm:node-linux-${process.arch}@22.23.3`, 'wrangler@4.86.0'];

test('examples/worker-d1 compiles, and handles each event once, also after it was killed', async () => {
  const { folder } = openExample('worker-d1', ...PACKAGES);
  writeFileSync(join(folder, '.dev.vars'), `SIGNING_KEY="${KEY}"\n`);
  const options = {
    cwd: folder,
    env: {
      PATH: [join(folder, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
      HOME: folder,
      CI: 'true',
      WRANGLER_SEND_METRICS: 'false',
    },
  };
  const migrate = ['d1', 'migrations', 'apply', 'DB', '--local'];
  const migrated = execFileSync('wrangler', migrate, { ...options, encoding: 'utf8', stdio: 'pipe' });
  for (const name of ['0001_posthorn.sql', '0002_posthorn.sql']) expect(migrated).toContain(name);

  const first = await serve(options);
  await expectDeliveries(first);
  const event = createEvent('transfer.succeeded', { id: 'TR_1', amount: 7 });
  expect((await deliver(first.url, event, { key: KEY })).status).toBe(200);
  expect((await fetch(new URL('/', first.url))).status).toBe(404);
  await first.kill();

  const second = await serve(options);
  const again = await deliver(second.url, event, { key: KEY });
  expect(await again.json()).toMatchObject({ outcome: 'duplicate' });
  await second.kill();
});

/** Starts `wrangler dev`, in a process group of its own: it starts programs that would outlive it. */
async function serve(options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  const program = spawn('wrangler', ['dev', '--port', '0'], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(program, 'close');
  const kill = async (): Promise<void> => {
    const { pid } = program;
    if (pid !== undefined && program.exitCode === null && program.signalCode === null) {
      process.kill(-pid, 'SIGKILL');
    }
    await ended;
  };
  onTestFinished(kill);
  for await (const line of createInterface(program.stdout)) {
    const [, address] = /Ready on (http:\S+)/.exec(line) ?? [];
    // The rest of the output is thrown away, so that the program never waits for a reader.
    program.stdout.resume();
    if (address !== undefined) return { url: new URL('/webhooks', address).href, key: KEY, kill };
  }
  throw new Error('wrangler has ended before it was ready');
}
