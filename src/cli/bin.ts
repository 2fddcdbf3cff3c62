#!/usr/bin/env node
// The program `posthorn`.

import { exitCodeOf, exitCodes, lineOf } from './failure.ts';
import { run } from './program.ts';

// What a command has begun to change it changes to the end, though nobody reads what it prints. Those that
// only read end with their reader: endWithReader().
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    process.exitCode = exitCodes.failed;
  });
}

try {
  await run(process.argv);
} catch (error) {
  process.stderr.write(`${lineOf(error)}\n`);
  process.exitCode = exitCodeOf(error);
}

// A connection that the receiver's module keeps open must not keep the command from ending.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
