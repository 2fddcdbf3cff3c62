// Ends what another process has started, and removes its folders, once that process has ended. However it
// ends, even by SIGKILL, stdin is closed then. Each line of stdin is a command and its argument.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The process that has started this one, and writes to it. Its number is given: it may have ended by now. */
const writer = Number(process.argv[2]);
const WATCH_PAUSE_MS = 500;

const running = new Set();
const folders = new Set();
const watches = [];

const commands = {
  start: (pid) => running.add(Number(pid)),
  end: (pid) => running.delete(Number(pid)),
  folder: (path) => folders.add(path),
  /** Ends the writer, which may wait for another program and do nothing else, once a process has ended. */
  watch: (pid) => watches.push(setInterval(() => isRunning(Number(pid)) || endWriter(), WATCH_PAUSE_MS)),
};

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function endWriter() {
  // Somebody else may have the number of a writer that has ended.
  if (process.ppid !== writer) return;
  const all = withDescendants([writer]);
  all.delete(process.pid);
  for (const pid of all) kill(pid);
}

/** Processes, and all that they have started, by what `ps` says. Windows has none. */
function withDescendants(pids) {
  if (process.platform === 'win32') return new Set(pids);
  const output = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' });
  const processes = output.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set(pids);
  // A set gives what is added while it is gone through.
  for (const one of found) for (const [pid, parent] of processes) if (parent === one) found.add(pid);
  return found;
}

/** SIGKILL ends a process that is stopped as well. */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Takes away the disks that are mounted below a folder: a folder that is one cannot be removed. */
function unmountBelow(folder) {
  if (process.platform !== 'linux') return;
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const path of mounted.filter((one) => one.startsWith(`${folder}/`)))
    execFileSync('umount', ['--lazy', path], { stdio: 'ignore' });
}

for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(' ');
  commands[line.slice(0, space)](line.slice(space + 1));
}
for (const watch of watches) clearInterval(watch);
for (const pid of withDescendants(running)) kill(pid);
for (const folder of folders) {
  unmountBelow(folder);
  // A process that has just been killed may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
