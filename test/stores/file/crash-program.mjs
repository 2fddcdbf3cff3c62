// A receiver in a process of its own, whose handler kills it. Run by file-crash.program.test.ts, with the built
// package.
import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNode } from 'posthorn/node';

const { DIRECTORY, SIGNING_KEY, CLOCK_AHEAD_MS, DEATH } = process.env;

// Not console.log: what it prints to a pipe can be lost with the process.
const print = (line) => writeSync(1, `${line}\n`);

const receiver = createReceiver({
  signingKey: SIGNING_KEY,
  deadLetters: createFileDeadLetters(DIRECTORY),
  now: () => Date.now() + Number(CLOCK_AHEAD_MS),
});
receiver.observe(({ outcome, code }) => print(`report ${outcome} ${code}`));
receiver.on('transfer.*', (event) => {
  print(`handling ${event.id}`);
  if (DEATH === 'exit') process.exit(7);
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
});
receiver.on('dispute.*', () => 'harmless');

const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver)).listen(0, '127.0.0.1', () => {
  print(`listening on ${server.address().port}`);
});
