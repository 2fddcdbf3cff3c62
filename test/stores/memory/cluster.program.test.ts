import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { KEY, post } from '../../support/served.ts';

/** Sends one event several times, each over a connection of its own, and gives what the program printed. */
async function printedBy(workers: number, deliveries: number): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-cluster-'));
  const env = { ...process.env, KEY, WORKERS: String(workers), DEAD_LETTERS: directory };
  const program = startProgram(join(packageRoot, 'test/stores/memory/cluster-program.mjs'), env, packageRoot);
  try {
    const port = (await program.line(/^listening /)).split(' ')[1];
    const body = JSON.stringify(createEvent('transfer.succeeded'));
    for (let sent = 0; sent < deliveries; sent += 1) {
      const answer = await post(`http://127.0.0.1:${port}/`, body, signedHeaders(body, { key: KEY }));
      expect(answer.status).toBe(200);
    }
  } finally {
    // Its workers end with it. What they printed before their answers has then been read.
    program.kill('SIGKILL');
    await program.exit;
    rmSync(directory, { recursive: true, force: true });
  }
  return program.lines.filter((line) => !line.startsWith('listening')).sort();
}

const handled = expect.stringMatching(/^handled evt_/);
const warning = expect.stringMatching(/^posthorn: memory_store_shared: /);

test('each worker of node:cluster with a memory store handles an event once, and warns once', async () => {
  expect(await printedBy(2, 6)).toEqual([handled, handled, warning, warning]);
});

test('a single worker warns too: it cannot know that it is the only one', async () => {
  expect(await printedBy(1, 3)).toEqual([handled, warning]);
});

test('a program of one process does not', async () => {
  expect(await printedBy(0, 3)).toEqual([handled]);
});
