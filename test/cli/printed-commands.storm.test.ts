import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { paste, posthorn, startPosthorn } from './posthorn.ts';
import { startSandbox } from './sandboxed.ts';

/** The lines of commands, without their indentation. */
const commandsIn = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith('  ')).map((line) => line.trim());

describe('the commands that the program prints work as printed', () => {
  test('posthorn webhooks rotate, with and without a file for the key', async () => {
    const { url, env, results, create } = await startSandbox();
    const { id } = await create('https://example.com/');
    const { POSTHORN_PASSWORD } = env;
    const begin = ['webhooks', 'rotate', id, '--base-url', url, '--username', 'sandbox-admin'];
    const begun = await posthorn(begin, { env: { POSTHORN_PASSWORD } });
    const lines = begun.stdout.split('\n');
    const [, , key = '', , ...commands] = lines.map((line) => line.trim());
    expect(await paste(commands.join('\n'), { POSTHORN_PASSWORD }, `${key}\n`)).toMatch(
      /^now sending WH\w+ enabled/,
    );

    const current = (await results('list')).find(({ enabled }) => enabled);
    const keyFile = `${temporaryDirectory()}/a key`;
    const again = await posthorn(['webhooks', 'rotate', String(current?.id), '--key-file', keyFile], { env });
    const [command = ''] = commandsIn(again.stdout.split('\n')).slice(-1);
    expect(await paste(command, env)).toMatch(/^now sending WH\w+ enabled/);
  });

  test('posthorn trigger: a sandbox is started', async () => {
    const { stderr } = await posthorn(['trigger', 'transfer.created', '--sandbox', 'http://127.0.0.1:2']);
    const advised = /(?<=start one with )posthorn (dev) or posthorn (sandbox),/.exec(stderr) ?? [];
    for (const words of advised.slice(1)) {
      const started = startPosthorn([...words.split(' '), '--port', '0']);
      await started.line(/^page|^sandbox/);
    }
    expect(advised).toHaveLength(3);
  });
});
