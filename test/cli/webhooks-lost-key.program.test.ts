import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { page, webhook } from '../service/client/literal-bodies.ts';
import { json, openLiteralService, type Reply, type Respond } from '../service/client/literal-service.ts';
import { SIGNING_KEY } from '../service/client/secrets.ts';
import { type Gate, shutGate } from '../support/gate.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { jsonLines, paste, posthorn } from './posthorn.ts';
import { refusing, type Started, startOn } from './refused-output.ts';
import { environmentOf } from './sandboxed.ts';

// The service shows the signing key of a new webhook only once.

const CREATED = json(webhook('WH2', { secret_signing_key: `"${SIGNING_KEY}"` }), 201);
/** A creation that no client can use, because the id is missing. */
const UNUSABLE = json(`{"secret_signing_key":"${SIGNING_KEY}"}`, 201);

/** A service with one webhook, WH1, which answers each creation alike. */
function serviceWith(created: Reply): Respond {
  return ({ line }) => {
    if (line.startsWith('POST')) return created;
    if (line.startsWith('PUT')) return json(webhook('WH2', { enabled: 'false' }));
    return json(line.includes('/WH1') ? webhook('WH1') : page([]));
  };
}

async function environmentWith(respond: Respond): Promise<NodeJS.ProcessEnv> {
  return environmentOf((await openLiteralService(respond)).url);
}

const commands = [
  { name: 'create', args: ['webhooks', 'create', 'https://example.com/new'], renewed: 'WH2' },
  { name: 'ensure', args: ['webhooks', 'ensure', 'https://example.com/new'], renewed: 'WH2' },
  // The second webhook is still disabled: a further one replaces it.
  { name: 'rotate', args: ['webhooks', 'rotate', 'WH1'], renewed: 'WH1' },
];

const messageOf = (error: Error): string => error.message;

describe('a key that stdout has refused', () => {
  test.each(commands)('of $name: the error gives the way to a new key', async ({ args, renewed }) => {
    const env = await environmentWith(serviceWith(CREATED));
    for (const stdout of [refusing.fullDisk(), refusing.closedPipe()]) {
      const { code, stderr } = await startOn(stdout, args, { env }).ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^posthorn: stdout refused the signing key of .*\bWH2, .*\(output_refused\)$/m);
      expect(stderr).toContain(`posthorn webhooks rotate ${renewed} --key-file new-key `);
      expect(stderr).not.toContain(SIGNING_KEY);
    }
  });

  test.each(commands)('of $name goes to stderr if that is a terminal', async ({ args }) => {
    const env = await environmentWith(serviceWith(CREATED));
    const command = `posthorn ${args.join(' ')} > /dev/full`;
    const output = await paste(`script -qec '${command}' /dev/null`, env).catch(messageOf);
    expect(output).toContain('ended with exit code 1');
    expect(output).toContain(SIGNING_KEY);
    expect(output).toContain('WH2');
  });

  test.each(commands)('of $name, which fails: the error gives the way to a new key', async ({ args }) => {
    const env = await environmentWith(serviceWith(UNUSABLE));
    const { code, stderr } = await startOn(refusing.fullDisk(), args, { env }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/ webhooks rotate \w+ --key-file new-key gives it a new one \(output_refused\)$/m);
    expect(stderr).not.toContain(SIGNING_KEY);
  });

  test.each(commands)('of $name with --key-file is not lost', async ({ args }) => {
    const env = await environmentWith(serviceWith(CREATED));
    const file = join(temporaryDirectory(), 'key');
    const { code, stderr } = await startOn(refusing.fullDisk(), [...args, '--key-file', file], { env }).ended;
    expect(code).toBe(1);
    expect(stderr).not.toContain('rotate');
    expect(readFileSync(file, 'utf8')).toBe(SIGNING_KEY);
  });
});

test.each(commands)('$name that fails after the key came keeps the key', async ({ args }) => {
  const env = await environmentWith(serviceWith(UNUSABLE));
  const file = join(temporaryDirectory(), 'key');
  const { code, stdout } = await posthorn([...args, '--key-file', file], { env });
  expect(code).toBe(1);
  expect(stdout).toContain(file);
  expect(readFileSync(file, 'utf8')).toBe(SIGNING_KEY);
});

test.each(commands)(
  '$name prints a key that its file has no room for, and removes the file',
  async ({ args }) => {
    const env = await environmentWith(serviceWith(CREATED));
    const file = join(temporaryDirectory(), 'key');
    // No file may grow, as on a full disk.
    const output = await paste(`ulimit -f 0; posthorn ${args.join(' ')} --json --key-file ${file}`, env);
    expect(jsonLines({ stdout: output })).toMatchObject([{ secret_signing_key: SIGNING_KEY }]);
    expect(existsSync(file)).toBe(false);
  },
);

describe('a signal between the request and the answer', () => {
  /** Starts a command, and resolves once its creation has come to a service that does not answer yet. */
  async function startHeld(args: readonly string[]): Promise<{ command: Started; file: string; gate: Gate }> {
    const gate = shutGate();
    const respond = serviceWith(CREATED);
    const env = await environmentWith(async (request) => {
      if (request.line.startsWith('POST')) await gate.pass();
      return respond(request);
    });
    const file = join(temporaryDirectory(), 'key');
    const command = startOn(refusing.fullDisk(), [...args, '--key-file', file], { env });
    await until('the creation has come', () => gate.held.all.length > 0);
    return { command, file, gate };
  }

  const signals = [
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
    { signal: 'SIGHUP', code: 129 },
  ] as const;

  test.each(commands)('of $name: the key is kept, and the command ends then', async ({ args }) => {
    for (const { signal, code } of signals) {
      const { command, file, gate } = await startHeld(args);
      command.kill(signal);
      await command.printed('still waiting');
      gate.open();
      expect(await command.ended).toMatchObject({ code });
      expect(readFileSync(file, 'utf8')).toBe(SIGNING_KEY);
    }
  });

  test.each(commands)('of $name, and a second one: it ends at once, without a file', async ({ args }) => {
    const { command, file } = await startHeld(args);
    command.kill('SIGINT');
    await command.printed('still waiting');
    command.kill('SIGINT');
    expect(await command.ended).toMatchObject({ code: 130 });
    expect(existsSync(file)).toBe(false);
  });
});
