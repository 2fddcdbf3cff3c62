#!/usr/bin/env node
// The program `posthorn`.

import { endProcess } from './output.ts';
import { run } from './program.ts';

// A write that fails is known by its callback. A command that changes something runs to its end nevertheless.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

await run(process.argv);
await endProcess();
