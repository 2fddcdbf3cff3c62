import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from './letters.ts';
import { posthorn } from './posthorn.ts';

// Takes its ten seconds.
test('a module of --receiver that never finishes is exit code 2', async () => {
  const file = join(temporaryDirectory(join(packageRoot, 'dist')), 'receiver.js');
  writeFileSync(file, 'await new Promise(() => {});');
  const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
  expect(ended).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /cannot be loaded: it has not finished within 10000 ms \(file_unreadable\)\n$/,
    ),
  });
});
