// Clears leftovers away at a given moment, at which other processes do the same. Run by file.test.ts, with the
// built package.
import { createFileDeadLetters } from 'posthorn/file';

const { DIRECTORY, START_AT } = process.env;
while (Date.now() < Number(START_AT)); // not one millisecond later than the others
createFileDeadLetters(DIRECTORY);
