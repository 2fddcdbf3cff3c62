// Lists letters in a directory whose mode has changed, and prints the error. Run by
// file.program.test.ts, with the built package.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';

const { DIRECTORY, MODE } = process.env;
if (process.getuid() === 0) process.setuid(65_534);
const directory = join(DIRECTORY, 'letters');
const deadLetters = createFileDeadLetters(directory);
await deadLetters.put({
  id: 'evt_1',
  reason: 'handler_failed',
  message: '',
  rawBody: new Uint8Array(0),
  headers: {},
  receivedAt: 0,
  parkedAt: 0,
  attempts: 1,
  handled: [],
});
chmodSync(directory, Number(MODE));
try {
  for await (const letter of deadLetters.list()) process.stdout.write(`${letter.id}\n`);
} catch (error) {
  process.stdout.write(`${error.code}: ${error.message}\n`);
} finally {
  chmodSync(directory, 0o700);
}
