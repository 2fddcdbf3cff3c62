/**
 * The most memory in use while the memory store claims and completes events, a few at once. It doubles if old
 * tables of a Map keep those that follow them alive. The process must be a fresh one, because its heap grows.
 */
import { parseArgs } from 'node:util';
import { createMemoryStore } from '../../dist/src/index.js';
import { toTable } from '../run/table.js';
import { inMegabytes } from './used.js';

const AT_ONCE = 20;
const RETENTION_MS = 86_400_000;
/** The 100,000 ids that are remembered take about 20 MB of it; most of the rest is not collected yet. */
const MOST_BYTES = 80 * 1_048_576;

const { values } = parseArgs({ options: { events: { type: 'string', default: '600000' } } });
const count = Number(values.events);

const store = createMemoryStore();
let mostBytes = 0;
const cpuBefore = process.cpuUsage();
for (let begun = 0; begun < count; begun += AT_ONCE) {
  for (let index = begun; index < begun + AT_ONCE; index += 1)
    store.claim({ id: `evt_${index}`, token: `t${index}`, leaseMs: 20_000, retentionMs: RETENTION_MS });
  for (let index = begun; index < begun + AT_ONCE; index += 1)
    store.complete({ id: `evt_${index}`, token: `t${index}`, retentionMs: RETENTION_MS });
  if (begun % 20_000 !== 0) continue;
  mostBytes = Math.max(mostBytes, process.memoryUsage().heapUsed);
  // Lets the event loop turn, as it does between deliveries.
  await new Promise((resolve) => setImmediate(resolve));
}
const { user, system } = process.cpuUsage(cpuBefore);

const verdict = mostBytes <= MOST_BYTES ? 'pass' : 'MISS';
console.log(
  `memory store, ${count} events, ${AT_ONCE} at once, ${((user + system) / count).toFixed(2)} µs of the processor each\n${toTable(
    ['target', 'to reach', 'measured', ''],
    [['most memory in use', `≤ ${inMegabytes(MOST_BYTES)}`, inMegabytes(mostBytes), verdict]],
  )}\n`,
);
