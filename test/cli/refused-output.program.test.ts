import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { createClient } from 'posthorn/client';
import { createFileDeadLetters } from 'posthorn/file';
import { createPostgresJournal } from 'posthorn/postgres';
import { createSandbox, type Sandbox } from 'posthorn/sandbox';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { standInPath } from '../stores/sqlite/driver.ts';
import { packageRoot } from '../support/child-program.ts';
import { type CopiedPackage, copyPackage } from '../support/copied-package.ts';
import { freePort } from '../support/free-port.ts';
import { readAll } from '../support/read-all.ts';
import { KEY } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { eventOf, writeEvents } from './accepting.ts';
import { fillJournal } from './journal-entries.ts';
import { directoryOf, letter } from './letters.ts';
import { paste } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';
import { refusing, startOn } from './refused-output.ts';
import { serveReceiver } from './refusing-servers.ts';
import { handledEvent } from './rerunning.ts';
import { environmentOf } from './sandboxed.ts';
import { signedByOpenssl } from './signed-by-openssl.ts';

const BODY = '{"id":"evt_1"}';

const fixture = usePostgres();
let root: Command;
let sandbox: Sandbox;
let env: NodeJS.ProcessEnv;
let webhook: string;
/** A copy of the program in a project that has a driver of SQLite. */
let copy: CopiedPackage;

beforeAll(async () => {
  // It looks for the version beside what is built.
  const url = pathToFileURL(join(packageRoot, 'dist/src/cli/program.js')).href;
  const program: typeof import('../../src/cli/program.ts') = await import(url);
  root = await program.createProgram();
  sandbox = createSandbox();
  env = { ...environmentOf((await sandbox.listen()).url), SIGNING_KEY: KEY };
  webhook = (await createWebhook()).id;
  sandbox.send({ type: 'transfer.created' });
  await sandbox.settled();
  copy = copyPackage();
  symlinkSync(standInPath, join(copy.project, 'node_modules', 'better-sqlite3'));
  return async () => {
    copy.remove();
    await sandbox.close();
  };
});

/** A directory with letters of these ids. */
const letters = (...ids: string[]): Promise<string> => directoryOf(ids.map((id) => letter(id)));

async function ids(directory: string): Promise<readonly string[]> {
  const found = await readAll(createFileDeadLetters(directory).list());
  return found.map(({ id }) => id);
}

/** The options of a journal with an event. */
async function journalOf(scope: string): Promise<readonly string[]> {
  const journal = createPostgresJournal(fixture.connect(), { scope, ...ampleJournal });
  await fillJournal(journal, [handledEvent('evt_1')]);
  return ['--scope', scope, '--postgres', fixture.url()];
}

interface Case {
  /** What stands behind the name of the command. */
  readonly args: () => readonly string[] | Promise<readonly string[]>;
  /** False if it only reads: then it does not fail if its reader goes away. */
  readonly changes: boolean;
  /** Holds once a command that runs until a signal has begun. */
  readonly hasBegun?: (args: readonly string[]) => Promise<boolean>;
}

const reads = (...args: readonly string[]): Case => ({ args: () => args, changes: false });
const changes = (args: Case['args']): Case => ({ args, changes: true });

const RECEIVER = `
  ${LETTERS_BESIDE}
  export const receiver = createReceiver({ signingKey: '${KEY}', deadLetters }).on('*', () => {});
  receiver.observe(() => {});`;

const SHARED = `
  import { createMemoryStore, createReceiver } from 'posthorn';
  const memory = createMemoryStore();
  const store = Object.fromEntries(
    ['claim', 'renew', 'complete', 'release'].map((name) => [name, (request) => memory[name](request)]),
  );
  export const receiver = createReceiver({ signingKey: '${KEY}', store }).on('*', () => {});`;

let addresses = 0;
/** An address that no webhook has yet. */
function newAddress(): string {
  addresses += 1;
  return `http://127.0.0.1:9/${addresses}`;
}

/** Each command of the program, with arguments for which it prints something. */
const cases: Readonly<Record<string, Case>> = {
  demo: reads('--port', '0'),
  dev: reads('--port', '0'),
  trigger: changes(() => ['transfer.created']),
  deliveries: reads(),
  advance: changes(() => ['1s']),
  sandbox: {
    args: async () => ['--port', String(await freePort())],
    changes: true,
    hasBegun: async ([, , port]) =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      ),
  },
  listen: reads('--port', '0'),
  send: changes(async () => ['transfer.created', '--to', await serveReceiver()]),
  verify: {
    args: () => {
      const file = join(temporaryDirectory(), 'body');
      writeFileSync(file, BODY);
      return [file, '--signature', signedByOpenssl(BODY, KEY)];
    },
    changes: false,
  },
  'webhooks list': reads(),
  'webhooks show': { args: () => [webhook], changes: false },
  'webhooks create': changes(() => [newAddress()]),
  'webhooks update': changes(() => [webhook, '--event', '*']),
  'webhooks enable': changes(() => [webhook]),
  'webhooks disable': changes(async () => [(await createWebhook()).id]),
  'webhooks ensure': changes(() => [newAddress()]),
  'webhooks rotate': changes(() => [webhook]),
  'dead-letters list': { args: async () => ['--dir', await letters('evt_1')], changes: false },
  'dead-letters show': { args: async () => ['evt_1', '--dir', await letters('evt_1')], changes: false },
  'dead-letters replay': changes(async () => {
    const { file } = await writeModule(RECEIVER, [letter('evt_1'), letter('evt_2')]);
    return ['evt_1', 'evt_2', '--receiver', file];
  }),
  'dead-letters drop': changes(async () => ['--all', '--yes', '--dir', await letters('evt_1', 'evt_2')]),
  'events accept': changes(async () => {
    const { file } = await writeModule(SHARED);
    return [writeEvents([eventOf('evt_1')]), '--receiver', file, '--yes'];
  }),
  'events rerun': changes(async () => {
    await journalOf('rerun');
    const { file } = await writeModule(`
      import pg from 'pg';
      import { createReceiver } from 'posthorn';
      import { createPostgresJournal, createPostgresStore } from 'posthorn/postgres';
      const pool = new pg.Pool({ connectionString: '${fixture.url()}' });
      const store = createPostgresStore(pool, { scope: 'rerun' });
      const journal = createPostgresJournal(pool, { scope: 'rerun' });
      export const receiver = createReceiver({ signingKey: '${KEY}', store, journal });
      receiver.on('*', () => {}, { name: 'book' });`);
    return ['--all', '--handler', 'book', '--run', 'fix', '--receiver', file, '--yes'];
  }),
  'events list': { args: () => journalOf('listed'), changes: false },
  'events show': { args: async () => ['evt_1', ...(await journalOf('shown'))], changes: false },
  'events prune': changes(async () => ['--older-than', '1d', '--yes', ...(await journalOf('pruned'))]),
  operator: {
    args: async () => {
      const { file } = await writeModule(SHARED);
      return ['--port', String(await freePort()), '--receiver', file];
    },
    changes: true,
    hasBegun: async ([, , port]) =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      ),
  },
  'ids import': changes(async () => {
    const { file } = await writeModule(SHARED);
    const list = join(temporaryDirectory(), 'ids.tsv');
    writeFileSync(list, 'evt_1\t2026-03-31T09:00:00Z\n');
    return [list, '--receiver', file];
  }),
  'postgres migrate': changes(() => ['--url', fixture.url()]),
  'postgres sql': reads(),
  'sqlite migrate': changes(() => [join(temporaryDirectory(), 'events.db')]),
  'd1 sql': reads(),
  'fx-quotes create': changes(() => ['EUR', '--source-amount', '100.00']),
  'fx-quotes retrieve': { args: async () => [String((await createQuote()).id)], changes: false },
  'e-checks find': reads('MTX-1001'),
  'lists payment-purposes': reads(),
  'lists currencies': reads(),
};

const messageOf = (error: Error): string => error.message;
const client = () => createClient({ baseUrl: String(env.POSTHORN_BASE_URL), administrator, banking });
const administrator = { username: 'sandbox-admin', password: 'sandbox-password' };
const banking = { token: 'sandbox-jwt', apiKey: 'sandbox-key' };
const createWebhook = () => client().webhooks.create({ url: newAddress() });
const createQuote = () => client().fxQuotes.create({ destination: { currency: 'EUR', amount: '1.00' } });

/** The commands below a command that have none below themselves, by their full names. */
function leavesOf(
  command: Command,
  name = '',
): readonly { readonly name: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((each) => leavesOf(each, `${name} ${each.name()}`.trim()));
}

/** Runs a command on a stdout that takes nothing; one that goes on gets a signal once it has begun. */
async function run(name: string, { args, hasBegun }: Case, stdout: number, ...more: readonly string[]) {
  const all = [...name.split(' '), ...(await args()), ...more];
  const bin = join(copy.root, 'dist', 'src', 'cli', 'bin.js');
  const started = startOn(stdout, all, { env, ...(name.startsWith('sqlite') && { bin }) });
  if (hasBegun !== undefined) {
    await until(`${name} has begun`, () => hasBegun(all));
    started.kill('SIGTERM');
  }
  return started.ended;
}

describe('a stdout that takes nothing', () => {
  test('these tests know every command of the program, and each has --json', () => {
    const leaves = leavesOf(root);
    expect(leaves.map(({ name }) => name).sort()).toEqual(Object.keys(cases).sort());
    const without = leaves.filter(({ command }) => !command.options.some(({ long }) => long === '--json'));
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test.each(Object.entries(cases))('%s on a full disk is exit code 1', async (name, each) => {
    const { code, stderr } = await run(name, each, refusing.fullDisk());
    expect(code).toBe(1);
    expect(stderr).toMatch(/^posthorn: stdout refused .*\(output_refused\)$/m);
    expect(stderr).toContain('ENOSPC');
  });

  const changing = Object.entries(cases).filter(([, each]) => each.changes);
  test.each(changing)('%s changes something: without a reader it is exit code 1', async (name, each) => {
    const { code, stderr } = await run(name, each, refusing.closedPipe(), '--json');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^posthorn: stdout refused .*EPIPE.*\(output_refused\)$/m);
  });

  const reading = Object.entries(cases).filter(([, each]) => !each.changes);
  test.each(reading)('%s only reads: without a reader it is exit code 0', async (name, each) => {
    expect(await run(name, each, refusing.closedPipe())).toEqual({ code: 0, stderr: '' });
  });

  test('dead-letters drop goes on to its end', async () => {
    const directory = await letters('evt_1', 'evt_2');
    const args = ['dead-letters', 'drop', '--all', '--yes', '--dir', directory];
    expect((await startOn(refusing.closedPipe(), args).ended).code).toBe(1);
    expect(await ids(directory)).toEqual([]);
  });

  test('dead-letters show fails before the drop behind && ends the only copy', async () => {
    const directory = await letters('evt_1');
    const show = `posthorn dead-letters show evt_1 --json --dir ${directory} > /dev/full`;
    const command = `${show} && posthorn dead-letters drop evt_1 --dir ${directory}`;
    await expect(paste(command)).rejects.toThrow('ended with exit code 1');
    expect(await ids(directory)).toEqual(['evt_1']);
  });

  test.each(['', '--json'])('a disk that takes only a part of a letter is exit code 1 %s', async (json) => {
    const rawBody = Buffer.from(JSON.stringify({ text: 'x'.repeat(100_000) }));
    const directory = await directoryOf([letter('evt_1', { rawBody })]);
    const file = join(directory, 'shown');
    // The limit of the size of a file, in blocks of 512 bytes, is like the end of a disk for one program.
    const show = `ulimit -f 8; posthorn dead-letters show evt_1 ${json} --dir ${directory} > ${file}`;
    await expect(paste(show)).rejects.toThrow('ended with exit code 1');
    expect(statSync(file).size).toBe(4_096);
  });
});

describe('a stderr that takes nothing', () => {
  test('is exit code 1, if something had to be said there', async () => {
    const empty = createSandbox();
    onTestFinished(() => empty.close());
    const { POSTHORN_SANDBOX = '' } = environmentOf((await empty.listen()).url);
    const command = (stderr: string) =>
      paste(`posthorn deliveries 2> ${stderr}`, { POSTHORN_SANDBOX }).catch(messageOf);
    expect(await command('/dev/null')).toBe('');
    expect(await command('/dev/full')).toContain('ended with exit code 1');
  });

  test('keeps the exit code of a command that fails', async () => {
    await expect(paste('posthorn dead-letters list 2> /dev/full')).rejects.toThrow('exit code 2');
  });
});
