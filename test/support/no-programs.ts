import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const refuse = (): never => {
  throw new Error(
    'A quick test starts no other program. Name its file in slowTests of vitest.config.ts, or let the name end in .slow.test.ts.',
  );
};

const functions = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;
Object.assign(childProcess, Object.fromEntries(functions.map((name) => [name, refuse])));
syncBuiltinESMExports();
