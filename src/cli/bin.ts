#!/usr/bin/env node
// The program `posthorn`. It imports nothing before it has checked the version: an older Node.js cannot load
// the rest, and would only say which name is missing in one of its own modules.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`posthorn: this needs Node.js 20.19 or later, and runs on ${process.version}\n`);
  process.exitCode = 2;
} else await runProgram();

async function runProgram(): Promise<void> {
  const { failOnEarlyEnd } = await import('./early-end.ts');
  const { endProcess } = await import('./output.ts');
  const { run } = await import('./program.ts');
  // A write that fails is known by its callback. A command that changes something still runs to its end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  failOnEarlyEnd();
  await run(process.argv);
  await endProcess();
}

export {};
