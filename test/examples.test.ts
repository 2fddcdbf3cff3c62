import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from './child-program.ts';

const credentials = [
  { name: 'no credentials', environment: {} },
  { name: 'BASIC', environment: { BASIC_USERNAME: 'billing', BASIC_PASSWORD: `it's "secret" $HOME` } },
  { name: 'BEARER', environment: { BEARER_TOKEN: 'to-ken_1' } },
];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'posthorn-examples-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function shell(command: string): Record<string, unknown> {
  return JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }));
}

async function withExample(
  name: string,
  environment: NodeJS.ProcessEnv,
  use: (program: ChildProgram, command: string) => Promise<void>,
): Promise<void> {
  const program = startProgram(
    join(packageRoot, 'dist', 'examples', `${name}.js`),
    { PATH: process.env.PATH, PORT: '0', ...environment },
    directory,
  );
  try {
    await program.line(/^listening on http:\/\/127\.0\.0\.1:\d+\/webhooks$/);
    await use(program, await program.line(/^body=/));
  } finally {
    program.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  }
}

describe.each(['express', 'node-http'])('examples/%s.ts', (name) => {
  test.each(credentials)('its printed command works with $name', async ({ environment }) => {
    await withExample(name, environment, async (program, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      await program.line(/ transfer\.succeeded evt_\S+ \{"id":"TR_sample"/);
      expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
      expect(shell(command.replace('--data-raw "$body"', '--data-raw "$body "'))).toMatchObject({
        status: 403,
      });
    });
  });

  test('it takes the signing key from the environment, and refuses other credentials', async () => {
    const environment = { SIGNING_KEY: `o'key`, BEARER_TOKEN: 'token' };
    await withExample(name, environment, async (program, command) => {
      expect(program.lines.join('\n')).not.toContain('made up');
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      expect(shell(command.replace('Bearer token', 'Bearer other'))).toMatchObject({ status: 401 });
    });
  });
});
