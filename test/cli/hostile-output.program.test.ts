import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { DeadLetter } from 'posthorn';
import { deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { KEY } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { writeEvents } from './accepting.ts';
import {
  NASTY,
  openHostile,
  openRefusing,
  openSaying,
  postgresError,
  redisErrors,
} from './hostile-parties.ts';
import { directoryOf, letter } from './letters.ts';
import { act, signIn } from './operator-requests.ts';
import { posthorn, start } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';
import { curl, environmentOf } from './sandboxed.ts';

type Printed = { readonly stdout: string; readonly stderr: string };

const URL = 'https://example.com/hooks';
const keys = { NEW_SIGNING_KEY: KEY, SIGNING_KEY: KEY };

/** Fails for a character that can drive a terminal, and for a line that the other side has made. */
function expectHarmless({ stdout, stderr }: Printed, keepsLines = false): void {
  const printed = `${stdout}${stderr}`;
  const inLines = printed.replaceAll(keepsLines ? /[\n\t]/g : '\n', '');
  expect(inLines).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  if (!keepsLines) expect(printed).not.toMatch(/^\s*FORGED/m);
}

/** Nothing to test if nothing foreign was shown. */
function expectShown({ stdout, stderr }: Printed): void {
  expect(`${stdout}${stderr}`).toMatch(/\\u\{1b\}|\\u001b/);
}

/** Commands that ask, by their names, and the arguments with which each gets to its end. */
const asking: Readonly<Record<string, readonly string[]>> = {
  trigger: ['transfer.created'],
  deliveries: [],
  advance: ['15m'],
  'webhooks list': ['--show-credentials'],
  'webhooks show': ['WH1', '--show-credentials'],
  'webhooks create': [URL],
  'webhooks update': ['WH1', '--event', '*'],
  'webhooks enable': ['WH1'],
  'webhooks disable': ['WH1'],
  'webhooks ensure': [URL],
  'webhooks rotate': ['WH1'],
  'fx-quotes create': ['EUR', '--source-amount', '1.00'],
  'fx-quotes retrieve': ['5001'],
  'e-checks find': ['MTX-1'],
  'lists payment-purposes': [],
  'lists currencies': [],
};

describe.each(Object.entries(asking))('posthorn %s', (name, args) => {
  test.each([[], ['--json']])('prints nothing that drives a terminal, %j', async (...json) => {
    const env = { ...environmentOf(await openHostile()), ...keys };
    const ended = await posthorn([...name.split(' '), ...args, ...json], { env });
    expect(ended).toMatchObject({ code: 0 });
    expectHarmless(ended);
    expectShown(ended);
  });

  test('nor does its error', async () => {
    const env = { ...environmentOf(await openRefusing()), ...keys };
    const ended = await posthorn([...name.split(' '), ...args], { env });
    expect(ended).toMatchObject({ code: 1 });
    expectHarmless(ended);
    expectShown(ended);
  });
});

test.each([[], ['--json']])(
  'posthorn webhooks rotate --resume prints nothing that drives a terminal, %j',
  async (...json) => {
    const env = { ...environmentOf(await openHostile()), ...keys };
    const ended = await posthorn(['webhooks', 'rotate', 'WH1', '--resume', 'WH2', ...json], { env });
    expect(ended).toMatchObject({ code: 0 });
    expectHarmless(ended);
    expectShown(ended);
  },
);

interface Started {
  /** All that it has printed, byte for byte. */
  readonly printed: () => Printed;
  readonly url: string;
  readonly end: () => Promise<Printed>;
}

/** Starts a command that serves, and waits for its address. */
async function serve(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  url = /http:\/\/127\.0\.0\.1:\d+(\/webhooks)?/,
): Promise<Started> {
  const { stdout, stderr, kill, exit } = start(args, { env });
  const printed = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  const closed = Promise.all([exit, finished(stdout), finished(stderr)]);
  const address = () => url.exec(printed.stdout)?.[0];
  await until(
    () => `an address in ${JSON.stringify(printed)}`,
    () => address() !== undefined,
  );
  return {
    printed: () => printed,
    url: address() ?? '',
    end: async () => {
      kill('SIGINT');
      await closed;
      return printed;
    },
  };
}

/** The body of an event that is nasty in every part. */
function nastyEvent(): string {
  const created_at = new Date().toISOString();
  return JSON.stringify({ id: NASTY, type: `transfer.${NASTY}`, created_at, data: { [NASTY]: NASTY } });
}

/** A module with a receiver whose handler fails, a letter and a journal; all that they say is nasty. */
async function writeReceiver(): Promise<string> {
  const { file } = await writeModule(
    `${LETTERS_BESIDE}
    import { createMemoryStore } from 'posthorn';
    const store = { ...createMemoryStore() };
    const nasty = ${JSON.stringify(NASTY)};
    const entry = {
      ...{ id: nasty, key: nasty, type: nasty, provider: nasty, account: nasty, resource: nasty },
      ...{ firstReceivedAt: 0, lastReceivedAt: 9e15, deliveries: 1, attempts: 1, handled: [nasty] },
      ...{ outcome: nasty, code: nasty, headers: { [nasty]: [nasty] }, rawBody: Buffer.from(nasty) },
    };
    const readable = { provider: 'banking-service', rawBody: Buffer.from(${JSON.stringify(nastyEvent())}) };
    const journal = {
      record: async () => {},
      get: async () => entry,
      list: async function* () { yield entry; yield { ...entry, ...readable }; },
      prune: async () => { throw new Error(nasty); },
    };
    export const receiver = createReceiver({ signingKey: 'k', deadLetters, store, journal });
    receiver.observe(() => {});
    receiver.on('*', () => { throw new Error(nasty); }, { name: nasty });`,
    [nastyLetter()],
  );
  return file;
}

function nastyLetter(): DeadLetter {
  return letter(NASTY, {
    type: `transfer.${NASTY}`,
    message: NASTY,
    headers: { 'x-note': [NASTY] },
    rawBody: Buffer.from(nastyEvent()),
    handled: [NASTY],
  });
}

const fill = (): Promise<string> => directoryOf([nastyLetter()]);

/** The other commands: each serves, reads letters, or asks another kind of server. */
const others: Readonly<Record<string, (json: readonly string[]) => Promise<Printed>>> = {
  async demo(json) {
    const authentication = { type: 'BEARER', bearer: { token: 'to-ken' } } as const;
    const demo = await serve(['demo', '--port', '0', ...json], {
      SIGNING_KEY: KEY,
      BEARER_TOKEN: authentication.bearer.token,
    });
    await until('the story is told', () => demo.printed().stdout.includes('listening'));
    const { stdout } = demo.printed();
    const [folder = ''] = /(?<=dead letters in )[^)"]+/.exec(stdout) ?? [];
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/webhooks/.exec(stdout) ?? [];
    await deliver(url, nastyEvent(), { key: KEY, authentication });
    await until('the report is printed', () => demo.printed().stdout.includes('FORGED'));
    return demo.end();
  },
  async dev(json) {
    const dev = await serve(['dev', '--port', '0', '--to', `${await openHostile()}/receiver`, ...json]);
    curl('POST', `${dev.url}/sandbox/events`, { type: `transfer.${NASTY}`, id: NASTY });
    await until('the delivery is printed', () => dev.printed().stdout.includes('FORGED'));
    return dev.end();
  },
  async sandbox(json) {
    const state = join(temporaryDirectory(), '\u001b[2J\u202e\n\tFORGED.json');
    return (await serve(['sandbox', '--port', '0', '--state', state, ...json])).end();
  },
  async listen(json) {
    const listening = await serve(['listen', '--port', '0', ...json], { SIGNING_KEY: KEY });
    await deliver(listening.url, nastyEvent(), { key: KEY });
    await until('the report is printed', () =>
      /(processed|failed|rejected)/.test(listening.printed().stdout),
    );
    return listening.end();
  },
  async send(json) {
    const to = `${await openHostile()}/receiver`;
    return posthorn(['send', NASTY, '--any', '--id', NASTY, '--to', to, ...json], {
      env: { SIGNING_KEY: KEY },
    });
  },
  async verify(json) {
    const args = ['verify', NASTY, '--signature', NASTY, ...json];
    return posthorn(args, { env: { SIGNING_KEY: KEY } });
  },
  'dead-letters list': async (json) => posthorn(['dead-letters', 'list', '--dir', await fill(), ...json]),
  'dead-letters show': async (json) =>
    posthorn(['dead-letters', 'show', NASTY, '--dir', await fill(), ...json]),
  'dead-letters replay': async (json) =>
    posthorn(['dead-letters', 'replay', '--all', '--receiver', await writeReceiver(), ...json]),
  'dead-letters drop': async (json) =>
    posthorn(['dead-letters', 'drop', '--all', '--yes', '--receiver', await writeReceiver(), ...json]),
  'postgres migrate': async (json) => {
    const port = await openSaying(postgresError);
    return posthorn(['postgres', 'migrate', '--url', `postgres://u@127.0.0.1:${port}/d`, ...json]);
  },
  'postgres sql': async () => posthorn(['postgres', 'sql', '--schema', NASTY]),
  'events accept': async (json) =>
    posthorn([
      ...['events', 'accept', writeEvents([nastyEvent(), JSON.stringify({ event: 5 })])],
      ...['--receiver', await writeReceiver(), '--yes', ...json],
    ]),
  'events list': async (json) =>
    posthorn(['events', 'list', '--limit', '1', '--receiver', await writeReceiver(), ...json]),
  'events show': async (json) =>
    posthorn(['events', 'show', NASTY, '--receiver', await writeReceiver(), ...json]),
  'events prune': async (json) =>
    posthorn([
      ...['events', 'prune', '--older-than', '1d', '--yes'],
      ...['--receiver', await writeReceiver(), ...json],
    ]),
  'events rerun': async (json) =>
    posthorn([
      ...['events', 'rerun', '--all', '--handler', NASTY, '--run', NASTY, '--reason', NASTY],
      ...['--receiver', await writeReceiver(), '--yes', ...json],
    ]),
  async operator(json) {
    const args = ['operator', '--port', '0', '--receiver', await writeReceiver(), ...json];
    const operator = await serve(args, {}, /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/);
    const cookie = await signIn(operator.url);
    await act(operator.url, 'replay', cookie, { ids: [NASTY] });
    return operator.end();
  },
  'ids import': async (json) =>
    posthorn(['ids', 'import', join('missing', NASTY), '--receiver', await writeReceiver(), ...json]),
  'sqlite migrate': async (json) => posthorn(['sqlite', 'migrate', join('missing', NASTY), ...json]),
};

/** Commands that show nothing but their own text. */
const takingNothing = ['d1 sql'];

describe.each(Object.entries(others))('posthorn %s', (name, run) => {
  test.each([[], ['--json']])('prints nothing that drives a terminal, %j', async (...json) => {
    const ended = await run(json);
    // The body of an answer or of a letter has several lines, and is the last that is printed.
    expectHarmless(ended, json.length === 0 && ['send', 'dead-letters show', 'events show'].includes(name));
    expectShown(ended);
  });
});

test('a Redis that answers with control characters is told of without them', async () => {
  const port = await openSaying(redisErrors);
  const ended = await posthorn(`dead-letters list --scope s --redis redis://127.0.0.1:${port}`);
  expectHarmless(ended);
  expectShown(ended);
});

test('every command is among those above', async () => {
  const commandsOf = async (...group: string[]): Promise<string[]> => {
    const { stdout } = await posthorn([...group, '--help']);
    const [, list = ''] = stdout.split('Commands:\n');
    const names = Array.from(list.matchAll(/^ {2}([a-z][a-z0-9-]*)/gm), ([, name = '']) => name);
    return names.filter((name) => name !== 'help');
  };
  const all: string[] = [];
  for (const name of await commandsOf()) {
    const below = await commandsOf(name);
    all.push(...(below.length === 0 ? [name] : below.map((each) => `${name} ${each}`)));
  }
  expect(all.length).toBeGreaterThan(20);
  expect(all.sort()).toEqual([...Object.keys(asking), ...Object.keys(others), ...takingNothing].sort());
});

test('nothing but output.ts writes to the terminal, so that a new command cannot forget to escape', () => {
  // An old Node.js is told before output.ts can be loaded.
  const beforeOutput = 'bin.ts';
  const folder = join(packageRoot, 'src', 'cli');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const writing = files.filter((name) =>
    /\.write\(|console\.|process\.std(out|err)\.(?!on\b|isTTY|columns)/.test(
      readFileSync(join(folder, name), 'utf8'),
    ),
  );
  expect(writing.sort()).toEqual([beforeOutput, 'output.ts']);
  const written = readFileSync(join(folder, beforeOutput), 'utf8').match(/\.write\(.*/g);
  expect(written).toEqual([expect.stringMatching(/^\.write\(`[^$]*\$\{process\.version\}\\n`\);$/)]);
});

test('listen handles an event that is nested more deeply than JSON.stringify can go', async () => {
  const listening = await serve(['listen', '--port', '0', '--json'], { SIGNING_KEY: KEY });
  const deep = `{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  const created_at = new Date().toISOString();
  const body = `{"id":"evt_1","type":"transfer.created","created_at":"${created_at}","data":${deep}}`;
  await deliver(listening.url, body, { key: KEY });
  await until('the report is printed', () => listening.printed().stdout.includes('"kind":"report"'));
  const { stdout } = await listening.end();
  expect(stdout).toContain('{"unprintable":"it is nested too deeply"}');
  expect(stdout).toContain('"outcome":"processed"');
});
