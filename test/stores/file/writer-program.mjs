// Writes letters of one id over and over, and reads them meanwhile. Run by
// file.program.test.ts, with the built package.
import { createFileDeadLetters } from 'posthorn/file';

const { DIRECTORY, WRITER } = process.env;
const deadLetters = createFileDeadLetters(DIRECTORY);
const number = Number(WRITER);

for (let count = 0; count < 40; count += 1) {
  await deadLetters.put({
    id: 'evt_shared',
    reason: 'handler_failed',
    message: `from ${number}`,
    rawBody: new Uint8Array(10_000 * (number + 1)).fill(number),
    headers: {},
    receivedAt: 0,
    parkedAt: count,
    attempts: number,
    handled: [],
  });
  const { attempts, rawBody } = (await deadLetters.get('evt_shared')) ?? {};
  if (rawBody?.length !== 10_000 * (attempts + 1) || rawBody.some((byte) => byte !== attempts)) {
    throw new Error(`a letter of ${rawBody?.length} bytes by writer ${attempts} is not whole`);
  }
}
