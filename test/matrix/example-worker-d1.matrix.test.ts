import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parkedEvent } from '../examples/dead-letter-commands.ts';
import { madeOnce } from '../support/made-once.ts';
import { expectOperatorPage } from './example-operator.ts';
import { expectDeliveries, KEY, layOutExample } from './example-project.ts';

const OPTIONS = { node: '22.23.3', packages: ['wrangler@4.86.0'] };

const TOKEN = 'Schlüssel of the operators';

/** The handler of the example, which the tests replace. */
const HANDLER = 'console.log(event.type, event.id)';

test('examples/worker-d1 compiles, and handles each event once, also after it was killed', async () => {
  const { serve } = openMigrated({ SIGNING_KEY: KEY });
  const first = await serve();
  await expectDeliveries(first);
  const event = createEvent('transfer.succeeded', { id: 'TR_1', amount: 7 });
  expect((await deliver(first.url, event, { key: KEY })).status).toBe(200);
  expect((await fetch(new URL('/', first.url))).status).toBe(404);
  // There is no token.
  expect((await askAsOperator(first, '/health')).status).toBe(403);
  await first.kill();

  const second = await serve();
  const again = await deliver(second.url, event, { key: KEY });
  expect(await again.json()).toMatchObject({ outcome: 'duplicate' });
  await second.kill();
});

test('examples/worker-d1 replays dead letters by its schedule, around those that always fail, and serves operators', async () => {
  const { folder, wrangler, serve } = openMigrated({ SIGNING_KEY: KEY, OPERATOR_TOKEN: TOKEN });
  const source = join(folder, 'src', 'receiver.ts');
  const text = readFileSync(source, 'utf8');
  expect(text).toContain(HANDLER);
  // The version with a fault.
  writeFileSync(source, text.replace(HANDLER, "{ throw new Error('a fault'); }"));
  const first = await serve();
  const poison = [0, 0, 0, 0].map(lastAttempt);
  const good = lastAttempt(7);
  const old = parkedEvent();
  for (const event of [...poison, good, old]) {
    expect(await (await deliver(first.url, event, { key: KEY })).json()).toMatchObject({ outcome: 'parked' });
  }
  const parked = await listed(first);
  expect(idsOf(parked)).toEqual(idsOf([...poison, good, old]));
  // Three portions, and the end.
  for (const _ of [1, 2, 3, 4]) await runSchedule(first);
  expect(await listed(first), 'they were tried within the hour').toEqual(parked);
  await first.kill();

  // The next version, which only cannot handle some events, an hour later.
  writeFileSync(source, text.replace(HANDLER, "{ if (!event.data.amount) throw new Error('no amount'); }"));
  wrangler('d1', 'execute', 'DB', '--local', '--command', AN_HOUR_PASSES);
  const second = await serve();
  await runSchedule(second);
  const afterOne = await listed(second);
  expect(triedAgain(afterOne, parked)).toEqual(idsOf(poison.slice(0, 2)));
  await runSchedule(second);
  await runSchedule(second);
  const left = await listed(second);
  expect(idsOf(left)).toEqual(idsOf([...poison, old]));
  expect(triedAgain(left, parked)).toEqual(idsOf(poison));
  // To the end, and through all of them again.
  for (const _ of [1, 2, 3, 4]) await runSchedule(second);
  expect(await listed(second)).toEqual(left);
  await expectOperators(second, { poison: idsOf(poison)[0] ?? '', old: old.id });
  await second.kill();
});

/** Moves the times of the last tries back. */
const AN_HOUR_PASSES = `update posthorn_dead_letters
set letter = json_set(letter, '$.lastTriedAt', json_extract(letter, '$.lastTriedAt') - 3600000)
where json_extract(letter, '$.lastTriedAt') is not null`;

interface Listed {
  readonly id: string;
  readonly lastTriedAt?: number;
}

function idsOf(letters: readonly { readonly id: string }[]): readonly string[] {
  return letters.map(({ id }) => id);
}

/** The ids of the dead letters whose event was tried again since an earlier list. */
function triedAgain(now: readonly Listed[], earlier: readonly Listed[]): readonly string[] {
  const before = new Map(earlier.map(({ id, lastTriedAt = 0 }) => [id, lastTriedAt]));
  return idsOf(now.filter(({ id, lastTriedAt = 0 }) => lastTriedAt > (before.get(id) ?? 0)));
}

/** An event that is parked if its handler fails. */
function lastAttempt(amount: number): { readonly id: string; readonly created_at: string } {
  const created_at = new Date(Date.now() - 14 * 60_000).toISOString();
  return { ...createEvent('transfer.succeeded', { amount }), created_at };
}

/** Makes the scheduled handler run, and waits for its end. */
async function runSchedule({ url }: Served): Promise<void> {
  const answer = await fetch(new URL('/cdn-cgi/handler/scheduled', url));
  expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
}

async function listed(served: Served): Promise<readonly Listed[]> {
  const answer = await askAsOperator(served, '/dead-letters');
  const page = JSON.parse(await answer.text());
  expect([answer.status, page.after]).toEqual([200, undefined]);
  return page.deadLetters;
}

/** The header that a browser sends once somebody has typed the password. */
function withPassword(token: string): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`operator:${token}`).toString('base64')}` };
}

/** With a body it asks for a deed, as the page does: a browser adds the origin by itself. */
function askAsOperator({ url }: Served, path: string, body?: object, token = TOKEN): Promise<Response> {
  const { origin } = new URL(url);
  const headers = { ...withPassword(token), 'content-type': 'application/json' };
  const asked = { headers: { ...headers, origin }, method: 'POST', body: JSON.stringify(body) };
  return fetch(new URL(`/operator/api${path}`, url), body === undefined ? { headers } : asked);
}

/** Checks the interface of operators, with an event that always fails and one that may be a recording. */
async function expectOperators(
  served: Served,
  { poison, old }: { readonly poison: string; readonly old: string },
): Promise<void> {
  const ask = async (path: string, body?: object) => {
    const answer = await askAsOperator(served, path, body);
    return [answer.status, await answer.json()];
  };
  const refusals = [
    await fetch(new URL('/operator', served.url)),
    await askAsOperator(served, `/dead-letters/${old}`, undefined, 'another'),
    await askAsOperator(served, '/dead-letters/drop', { ids: [old] }, 'another'),
  ];
  for (const { headers, status } of refusals)
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)]);
  await expectOperatorPage(served, withPassword(TOKEN));
  expect(await ask(`/dead-letters?after=${poison}`)).toMatchObject([200, { deadLetters: { length: 4 } }]);
  const shown = { id: old, reason: 'event_too_old', body: expect.stringContaining('TR_parked') };
  expect(await ask(`/dead-letters/${old}`)).toMatchObject([200, shown]);
  const endOf = (deed: string, id: string) => ask(`/dead-letters/${deed}`, { ids: [id] });
  // workerd ends the release of the claim under which it was parked, so that claim has to run out.
  const failed = { code: 'handler_failed', message: expect.stringContaining('no amount') };
  await expect.poll(() => endOf('replay', old)).toMatchObject([200, { results: [failed] }]);
  expect(await endOf('replay', poison)).toMatchObject([200, { results: [{ outcome: 'parked', ...failed }] }]);
  expect(await endOf('drop', poison)).toMatchObject([200, { results: [{ outcome: 'dropped' }] }]);
  for (const deed of ['replay', 'drop'])
    expect(await endOf(deed, poison)).toMatchObject([200, { results: [{ outcome: 'missing' }] }]);
  expect(await ask(`/dead-letters/${poison}`)).toMatchObject([404, { code: 'dead_letter_missing' }]);
}

interface Served {
  readonly url: string;
  readonly key: string;
  readonly kill: () => Promise<void>;
}

/** Opens the example with its secrets and its tables. */
function openMigrated(secrets: Readonly<Record<string, string>>) {
  const made = madeOnce('worker-d1', (into) => void layOutExample(into, 'worker-d1', OPTIONS));
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-worker-d1-'));
  const packages = join(made, 'node_modules');
  cpSync(made, folder, { recursive: true, filter: (path) => path !== packages });
  symlinkSync(packages, join(folder, 'node_modules'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lines = Object.entries(secrets).map(([name, secret]) => `${name}="${secret}"\n`);
  writeFileSync(join(folder, '.dev.vars'), lines.join(''));
  const options = {
    cwd: folder,
    env: {
      PATH: [join(folder, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
      HOME: folder,
      CI: 'true',
      WRANGLER_SEND_METRICS: 'false',
    },
  };
  const wrangler = (...args: readonly string[]) =>
    execFileSync('wrangler', args, { ...options, encoding: 'utf8', stdio: 'pipe' });
  const migrated = wrangler('d1', 'migrations', 'apply', 'DB', '--local');
  const names = ['0001_posthorn.sql', '0002_posthorn.sql', '0003_replay_position.sql'];
  for (const name of names) expect(migrated).toContain(name);
  return { folder, wrangler, serve: () => serve(options) };
}

/** Starts `wrangler dev`, in a process group of its own: it starts programs that would outlive it. */
async function serve(options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Promise<Served> {
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
