import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOwnProgram } from '../../support/own-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function entriesAfter(
  mode: string,
): Promise<{ readonly entries: unknown[]; readonly code: number | null }> {
  const file = join(temporaryDirectory(), 'journal.jsonl');
  const program = startOwnProgram('test/receiver/journal/ending-program.mjs', { FILE: file, MODE: mode });
  const code = await program.exit;
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return { entries: lines.flatMap((line) => JSON.parse(line).records), code };
}

test('a process that ends by itself, without close, has written the entry of its last event', async () => {
  expect(await entriesAfter('writes')).toMatchObject({
    entries: [{ outcome: 'processed', deliveries: 0 }],
    code: 0,
  });
});

test.each(['fails', 'hangs'])('a journal that %s keeps no process alive', async (mode) => {
  expect(await entriesAfter(mode)).toEqual({ entries: [], code: 0 });
});
