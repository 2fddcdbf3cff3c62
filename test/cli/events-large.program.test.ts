import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { eventOf, moduleOf } from './accepting.ts';
import { jsonLines, posthornProcess } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const LINES = 100_000;
const OLD_SPACE_MB = 64;

/** The most memory that the process may have had. A busy machine collects buffers late; others need 140. */
const MOST_MB = 400;
const PRINT_MEMORY =
  "process.on('exit', () => console.error(Math.round(process.resourceUsage().maxRSS / 1024), 'MB'))";

/** One of all events would grow with the file. */
const FORGETFUL = '{ ...createMemoryStore({ maxEntries: 1_000 }) }';

function* largeFile(): Generator<string> {
  const event = JSON.stringify(eventOf('evt_0', { note: 'x'.repeat(1_900) }));
  for (let number = 1; number <= LINES; number += 1) yield `${event.replace('evt_0', `evt_${number}`)}\n`;
  // A line of 500 MB is dropped while it is read.
  for (let part = 0; part < 500; part += 1) yield 'x'.repeat(1_000_000);
}

test('a file that is larger than the memory is checked and accepted', async () => {
  const file = join(temporaryDirectory(), 'events.jsonl');
  await pipeline(Readable.from(largeFile()), createWriteStream(file));
  const { file: receiver } = await writeModule(
    moduleOf({ store: FORGETFUL, handlers: `.on('*', () => {});${PRINT_MEMORY}` }),
  );
  const args = ['--receiver', receiver, '--yes', '--json', '--concurrency', '8'];
  const env = { NODE_OPTIONS: `--max-old-space-size=${OLD_SPACE_MB}` };
  const ended = await posthornProcess(['events', 'accept', file, ...args], { env });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^\d+ MB\n$/) });
  // Buffers are not in the old space. The file has 700 MB.
  expect(Number.parseInt(ended.stderr, 10)).toBeLessThan(MOST_MB);
  const lines = jsonLines(ended).filter(({ kind }) => kind !== 'accept');
  expect(lines).toMatchObject([
    { kind: 'unreadable', line: LINES + 1, message: expect.stringContaining('it is longer than') },
    { dryRun: true, wouldRun: LINES, unreadable: 1 },
    { dryRun: false, processed: LINES, unreadable: 1, left: 0 },
  ]);
});
