// @ts-check
// Walks at random through worlds of faults, or explores smaller ones: `npm run simulate -- --help`.
import { spawnSync } from 'node:child_process';
import { bundle } from './bundle.js';

const options = process.argv.slice(2);
const isExploration = options[0] === '--explore';
if (isExploration) options.shift();
const program = await bundle(`test/simulation/${isExploration ? '' : 'walks/'}main.ts`);
const { status } = spawnSync(process.execPath, ['--input-type=module', '-', ...options], {
  input: program,
  stdio: ['pipe', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;
