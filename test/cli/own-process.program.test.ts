import { describe, expect, test } from 'vitest';
import { KEY } from '../support/served.ts';
import { directoryOf, letter } from './letters.ts';
import { type Ended, posthorn, posthornProcess, startPosthorn, startPosthornProcess } from './posthorn.ts';
import { serveReceiver } from './refusing-servers.ts';
import { signedByOpenssl } from './signed-by-openssl.ts';

// Most tests run many commands in one process: test/cli/command-host.mjs. What these prove is that the built
// program in a process of its own, as its users run it, does the same.

const BODY = '{"id":"evt_1"}';
const SIGNATURE = signedByOpenssl(BODY, KEY);

/** What differs from one run to the next. */
function masked({ code, stdout, stderr }: Ended): Ended {
  const mask = (text: string): string =>
    text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replaceAll(/evt_[\w-]{10,}|\d+ ms/g, '…');
  return { code, stdout: mask(stdout), stderr: mask(stderr) };
}

/** Commands that end, with the exit code of each. */
const commands: readonly {
  readonly args: readonly string[];
  readonly code: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}[] = [
  { args: ['--version'], code: 0 },
  { args: ['verify', '-', '--signature', SIGNATURE], code: 0, env: { SIGNING_KEY: KEY }, input: BODY },
  { args: ['verify', '-', '--signature', SIGNATURE], code: 1, env: { SIGNING_KEY: KEY }, input: 'other' },
  { args: ['webhooks', 'list', '--base-url', 'http://127.0.0.1:2'], code: 2 },
  { args: ['lists', 'currencies', '--base-url', 'http://127.0.0.1:2', '--access-token', 't'], code: 3 },
];

describe('in a process of its own', () => {
  test.each(commands)('$args is exit code $code, and prints the same', async ({ args, code, ...more }) => {
    const [own, shared] = await Promise.all([posthornProcess(args, more), posthorn(args, more)]);
    expect(own.code).toBe(code);
    // First what differs most rarely: the report of a failure names it.
    expect(masked(own).stderr).toBe(masked(shared).stderr);
    expect(masked(own)).toEqual(masked(shared));
  });

  test('dead-letters list prints the same', async () => {
    const directory = await directoryOf([letter('evt_1')]);
    const args = ['dead-letters', 'list', '--dir', directory];
    const [own, shared] = await Promise.all([posthornProcess(args), posthorn(args)]);
    expect(own).toMatchObject({ code: 0, stdout: expect.stringContaining('1 parked') });
    expect(own).toEqual(shared);
  });

  test('send prints the same', async () => {
    const args = ['send', 'transfer.created', '--to', await serveReceiver()];
    const env = { SIGNING_KEY: KEY };
    const [own, shared] = await Promise.all([posthornProcess(args, { env }), posthorn(args, { env })]);
    expect(own).toMatchObject({ code: 0, stdout: expect.stringContaining('processed') });
    expect(masked(own)).toEqual(masked(shared));
  });

  test.each([
    { args: ['sandbox', '--port', '0'], ready: /fxQuote/ },
    { args: ['dev', '--to', 'http://127.0.0.1:2/', '--port', '0'], ready: /posthorn deliveries/ },
    { args: ['listen', '--port', '0'], ready: /http:\/\/127\.0\.0\.1:\d+\// },
  ])('$args prints the same until a signal, and then ends with exit code 0', async ({ args, ready }) => {
    const env = { SIGNING_KEY: KEY };
    const [own, shared] = [startPosthornProcess(args, env), startPosthorn(args, env)];
    const printedBy = ({ lines }: typeof own): string[] =>
      lines.map((line) => line.replaceAll(/127\.0\.0\.1:\d+|WH\w+|posthorn-key-[\w-]+/g, '…'));
    for (const program of [own, shared]) {
      await program.line(ready);
      program.kill('SIGINT');
      expect(await program.exit).toBe(0);
    }
    expect(printedBy(own)).toEqual(printedBy(shared));
  });
});
