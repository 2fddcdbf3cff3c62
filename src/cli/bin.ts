#!/usr/bin/env node
// The program `posthorn`.

import { exitCodes } from './failure.ts';
import { flush } from './output.ts';
import { run } from './program.ts';

// A command that changes something runs to its end, even if its output is no longer read. A command that only
// reads ends with its reader: see endWithReader().
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    process.exitCode = exitCodes.failed;
  });
}

await run(process.argv);

// An open connection of the receiver's module must not keep the command from ending.
flush(() => process.exit());
