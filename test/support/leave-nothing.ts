import childProcess, { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countStart } from './costs/counter.ts';
import { endWith, killAtEnd, removeAtEnd } from './reaper.ts';

// Vitest ends its workers by signals: no listener of `exit` runs then, and no hook if the run is cancelled.
// What the tests of a worker have started, and the folders that they have made, go with it all the same.

const DONE = Symbol.for('posthorn.tests.leave-nothing');

/** The functions that start a program. Those whose names end in `Sync` have waited for its end. */
const names = ['exec', 'execFile', 'fork', 'spawn', 'execSync', 'execFileSync', 'spawnSync'] as const;

function prepare(): void {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-tests-'));
  removeAtEnd(folder);
  // Vitest itself may be killed, while a test waits for a program that does not end.
  endWith(process.ppid);
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o711);
  // Windows names it TEMP.
  Object.assign(process.env, { TMPDIR: folder, TEMP: folder, TMP: folder });

  let depth = 0;
  for (const name of names) {
    const apply: ProxyHandler<(typeof childProcess)[typeof name]>['apply'] = (start, self, parameters) => {
      // `exec` calls `execFile`.
      if (depth === 0) countStart(parameters);
      depth += 1;
      try {
        const started: unknown = Reflect.apply(start, self, parameters);
        if (started instanceof ChildProcess) killAtEnd(started);
        return started;
      } finally {
        depth -= 1;
      }
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
