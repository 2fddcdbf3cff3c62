import childProcess from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWith, killAtEnd, removeAtEnd } from './reaper.ts';

// Vitest ends its workers by signals: no listener of `exit` runs then, and no hook if the run is cancelled.
// What the tests of a worker have started, and the folders that they have made, go with it all the same.

const DONE = Symbol.for('posthorn.tests.leave-nothing');

/** The functions that start a program and do not wait for its end. */
const names = ['exec', 'execFile', 'fork', 'spawn'] as const;

function prepare(): void {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-tests-'));
  removeAtEnd(folder);
  // Vitest itself may be killed, while a test waits for a program that does not end.
  endWith(process.ppid);
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o711);
  // Windows names it TEMP.
  Object.assign(process.env, { TMPDIR: folder, TEMP: folder, TMP: folder });

  for (const name of names) {
    const apply: ProxyHandler<(typeof childProcess)[typeof name]>['apply'] = (start, self, parameters) => {
      const child = Reflect.apply(start, self, parameters);
      killAtEnd(child);
      return child;
    };
    Object.assign(childProcess, { [name]: new Proxy(childProcess[name], { apply }) });
  }
  syncBuiltinESMExports();
}

// Before each file, in a worker that may have had others.
if (!Reflect.has(globalThis, DONE)) {
  Reflect.set(globalThis, DONE, true);
  prepare();
}
