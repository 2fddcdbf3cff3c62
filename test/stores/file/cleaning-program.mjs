// Clears leftovers away as soon as a file appears, for which other processes wait too. Run by
// file.program.test.ts, with the built package.
import { existsSync } from 'node:fs';
import { createFileDeadLetters } from 'posthorn/file';

const { DIRECTORY, SIGNAL } = process.env;
const twoHoursLater = Date.now() + 2 * 3_600_000;
Date.now = () => twoHoursLater;
process.stdout.write('ready\n');
while (!existsSync(SIGNAL)); // not one millisecond later than the others
createFileDeadLetters(DIRECTORY);
