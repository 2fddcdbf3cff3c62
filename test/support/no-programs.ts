import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const refuse = (): never => {
  throw new Error('A quick test starts no other program. Let the name of its file end in .program.test.ts.');
};

const functions = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;
Object.assign(childProcess, Object.fromEntries(functions.map((name) => [name, refuse])));
syncBuiltinESMExports();
