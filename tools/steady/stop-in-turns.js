// @ts-check
// Stops a process group for four fifths of the time, 40 ms at once, until its own input ends: `node stop-in-turns.js
// GROUP`. A longer stop would look like a standstill, which is another fault.

const group = Number(process.argv[2]);
const STOPPED_MS = 40;
const RUNNING_MS = 10;

function signal(/** @type {NodeJS.Signals} */ name) {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended.
    process.exit();
  }
}

function stop() {
  signal('SIGSTOP');
  setTimeout(resume, STOPPED_MS);
}

function resume() {
  signal('SIGCONT');
  setTimeout(stop, RUNNING_MS);
}

// It ends by the end of its input alone, so that the group never stays stopped.
process.on('SIGINT', () => {});
process.stdin.resume().on('end', () => {
  signal('SIGCONT');
  signal('SIGTERM');
  process.exit();
});
stop();
