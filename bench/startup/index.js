/**
 * How long a process needs until posthorn is imported, against one that imports what posthorn depends on.
 * Fresh processes by turns: what disturbs the machine disturbs all alike.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, ratios } from '../run/statistics.js';
import { toTable } from '../run/table.js';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '30' } } });
const rounds = Number(values.rounds);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The first is what the others are compared with. */
const contenders = [
  { title: 'zod/mini, lru-cache and raw-body', modules: ['zod/mini', 'lru-cache', 'raw-body'] },
  { title: 'posthorn', modules: ['posthorn'] },
  { title: 'posthorn and posthorn/node', modules: ['posthorn', 'posthorn/node'] },
];

/**
 * Milliseconds by the clock and of processor time, since the process began and since the imports did.
 *
 * @typedef {{ start: number, startCpu: number, import: number, importCpu: number }} Times
 */

/**
 * @param {readonly string[]} modules
 * @returns {Times}
 */
function measure(modules) {
  const program = `
    const cpu = () => Object.values(process.cpuUsage()).reduce((sum, microseconds) => sum + microseconds / 1000, 0);
    const before = { clock: performance.now(), cpu: cpu() };
    for (const module of ${JSON.stringify(modules)}) await import(module);
    const start = performance.now();
    const startCpu = cpu();
    console.log(JSON.stringify({
      start, startCpu, import: start - before.clock, importCpu: startCpu - before.cpu,
    }));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

// The first turn reads the files from the disk.
for (const { modules } of contenders) measure(modules);
const measured = contenders.map(() => /** @type {Times[]} */ ([]));
for (let round = 0; round < rounds; round += 1) {
  for (const [index, { modules }] of contenders.entries()) measured[index].push(measure(modules));
}

/** @type {readonly (readonly [keyof Times, string])[]} */
const columns = [
  ['start', 'start-up, ms'],
  ['startCpu', 'start-up, ms CPU'],
  ['import', 'import alone, ms'],
  ['importCpu', 'import alone, ms CPU'],
];
const rows = contenders.map(({ title }, index) => [
  title,
  ...columns.map(([column]) => {
    const [own, base] = [index, 0].map((row) => measured[row].map((times) => times[column]));
    return `${median(own).toFixed(1)} (${median(ratios(own, base)).toFixed(2)})`;
  }),
]);
console.log(toTable(['imported', ...columns.map(([, title]) => title)], rows));
console.log(`\nMedians of ${rounds} rounds, in brackets those of the ratios to the first.`);
