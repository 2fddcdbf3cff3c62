import { expect, test } from 'vitest';
import { posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

// Takes its ten seconds.
test('a module of --receiver that never finishes loading is exit code 3: it waits for a server', async () => {
  const { file } = await writeModule('await new Promise(() => {});');
  const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
  expect(ended).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(
      /has not finished loading within 10000 ms: it waits for something, such as a connection to Redis; .* \(unreachable\)\n$/,
    ),
  });
});
