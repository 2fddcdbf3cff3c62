import { expect, test } from 'vitest';
import { posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

// Takes its ten seconds.
test('a module of --receiver that never finishes is exit code 2', async () => {
  const { file } = await writeModule('await new Promise(() => {});');
  const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
  expect(ended).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /cannot be loaded: it has not finished within 10000 ms \(file_unreadable\)\n$/,
    ),
  });
});
