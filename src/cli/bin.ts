#!/usr/bin/env node
// The program `posthorn`.

import { exitCodeOf, exitCodes, lineOf } from './failure.ts';
import { flush, note } from './output.ts';
import { run } from './program.ts';

// A command that changes something goes on to its end, even if nobody reads its output any more. A command
// that only reads ends with its reader: endWithReader().
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    process.exitCode = exitCodes.failed;
  });
}

try {
  await run(process.argv);
} catch (error) {
  note(lineOf(error));
  process.exitCode = exitCodeOf(error);
}

// A connection that the receiver's module keeps open must not keep the command from ending.
flush(() => process.exit());
