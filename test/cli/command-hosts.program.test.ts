import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { letter } from './letters.ts';
import { posthorn } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

// A process that runs many commands must not tell one what another has printed.

/** A program whose first command goes on to print, and the number of commands in its process. */
const PROGRAM = `
  let commands = 0;
  export async function run() {
    commands += 1;
    process.stdout.write(String(commands));
    if (commands > 1) await new Promise((resolve) => setTimeout(resolve, 50));
    else setInterval(() => console.error('late'), 1).unref();
  }`;

describe('what a command prints after its end does not get into the next one', () => {
  test('if the program prints it', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'program.js'), PROGRAM);
    writeFileSync(join(directory, 'output.js'), 'export async function flush() {}');
    writeFileSync(join(directory, 'failure.js'), 'export const currentExitCode = () => 0;');
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    const program = join(directory, 'bin.js');
    expect(await posthorn([], { program })).toEqual({ code: 0, stdout: '1', stderr: '' });
    expect(await posthorn([], { program })).toEqual({ code: 0, stdout: '2', stderr: '' });
  });

  test('if the module of a receiver prints it', async () => {
    const code = `${LETTERS_BESIDE}
      setInterval(() => console.error('late'), 1).unref();
      export const receiver = createReceiver({ signingKey: 'k', deadLetters }).on('*', () => {});`;
    const { file } = await writeModule(code, [letter('evt_1')]);
    const replayed = await posthorn(['dead-letters', 'replay', 'evt_1', '--receiver', file]);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 replayed') });
    for (let next = 0; next < 5; next += 1)
      expect(await posthorn('webhooks --help')).toMatchObject({ code: 0, stderr: '' });
  });
});
