// A process that runs one command of the built program after another: the start of Node.js and the loading of
// the modules take far longer than most commands. test/cli/command-hosts.ts starts it and tells it what to run.
//
// A command finds the arguments, the environment, the directory, the streams and the exit code of a process
// of its own, and gets real signals. What it prints goes through the channel, in its order. What it prints
// after its end is lost, as in a process of its own, and never in the output of the next command.

import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { Server, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** The file that a process of its own would run. */
const program = process.argv[2];
const load = (name) => import(pathToFileURL(join(dirname(program), name)).href);
const [{ flush }, { run }] = [await load('output.js'), await load('program.js')];
const { currentExitCode } = await load('failure.js');

const SIGNALS = ['SIGINT', 'SIGTERM'];
/** Where Node.js keeps the connections of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/** In how many turns of the event loop what has been closed must be gone. */
const TURNS = 20;

/** The command that began what runs now; undefined for a signal and for the garbage collection. */
const commandOfCode = new AsyncLocalStorage();
/** The command that runs now; undefined between two. */
let currentCommand;
let signals = 0;

// A signal that nobody expects ends a process; but one that comes after the end of a command is late.
for (const signal of SIGNALS) {
  process.on(signal, () => {
    signals += 1;
    if (currentCommand === undefined || process.listenerCount(signal) > 1) return;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** As Node.js prints a warning, which would not go through the streams. */
process.on('warning', ({ name, message }) => {
  if (commandOfCode.getStore() !== undefined)
    process.stderr.write(`(node:${process.pid}) ${name}: ${message}\n`);
});

function printer(stream) {
  const send = (chunk, _encoding, done) => process.send({ stream, chunk }, undefined, undefined, done);
  const printing = new Writable({ write: send, decodeStrings: true });
  const write = printing.write.bind(printing);
  const isLate = () =>
    currentCommand === undefined || (commandOfCode.getStore() ?? currentCommand) !== currentCommand;
  return Object.assign(printing, { write: (...chunk) => isLate() || write(...chunk) });
}

function replace(target, values) {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { configurable: true, enumerable: true, writable: true, value });
}

/** Gives a command what a process of its own would have. */
function prepare({ args, env, cwd, input }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  // As in `spawn`, a variable that is undefined is not set; in `process.env` it would be a text.
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
  process.chdir(cwd);
  const [stdout, stderr] = [printer('stdout'), printer('stderr')];
  replace(process, { stdin: Readable.from(input.length === 0 ? [] : [input]), stdout, stderr });
  replace(globalThis, { console: new Console(stdout, stderr) });
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  signals = 0;
}

function listeners() {
  return process.eventNames().flatMap((name) => process.rawListeners(name).map((each) => [name, each]));
}

/** Takes away what a command leaves behind; false if something remains that the end of a process would end. */
async function tidy() {
  for (const [name, each] of listeners()) if (!ownListeners.has(each)) process.off(name, each);
  const dispatcher = globalThis[DISPATCHER];
  if (dispatcher !== undefined) {
    globalThis[DISPATCHER] = new dispatcher.constructor();
    await dispatcher.destroy();
  }
  // The end of a process closes its servers and connections.
  for (const handle of process._getActiveHandles()) {
    if (ownHandles.has(handle)) continue;
    if (handle instanceof Server) handle.close();
    else if (handle instanceof Socket) handle.destroy();
  }
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (process.getActiveResourcesInfo().length <= ownResources) return true;
    await setImmediate();
  }
  return false;
}

process.on('message', async (command) => {
  currentCommand = command;
  prepare(command);
  await commandOfCode.run(command, async () => {
    await run(process.argv);
    await flush();
  });
  currentCommand = undefined;
  process.send({ code: currentExitCode(), signals });
  // A process of its own would have ended by now: what goes wrong from here on is not the command's.
  process.send({ isTidy: await tidy() });
});

const ownHandles = new Set(process._getActiveHandles());
const ownListeners = new Set(listeners().map(([, each]) => each));
const ownResources = process.getActiveResourcesInfo().length;
