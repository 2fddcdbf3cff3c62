import { parseArgs } from 'node:util';
import { contenders } from './contenders.js';
import { Slot } from './slot.js';
import { median, ratios } from './statistics.js';
import { toTable } from './table.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    duration: { type: 'string' },
    'warm-up': { type: 'string' },
    connections: { type: 'string', default: '50' },
    json: { type: 'string' },
    'server-flags': { type: 'string', default: '' },
  },
});

const only = options.only?.split(',');
const chosen = contenders.filter(({ name, isQuick }) => (only === undefined ? !options.quick || isQuick : only.includes(name)));
const settings = {
  connections: Number(options.connections),
  warmUpMs: Number(options['warm-up'] ?? (options.quick ? 1 : 2)) * 1_000,
  durationMs: Number(options.duration ?? (options.quick ? 1 : 4)) * 1_000,
  serverFlags: options['server-flags'].split(' ').filter(Boolean),
  environment: {},
};

/** @type {Map<string, import('./slot.js').Measurement[]>} */
const measurements = new Map(chosen.map(({ name }) => [name, []]));
for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const contender of chosen) {
    const slot = new Slot(contender, settings);
    try {
      await slot.prepare();
      const m = await slot.measureClosedLoop();
      await slot.verifyCount();
      measurements.get(contender.name)?.push(m);
      console.error(`round ${round + 1} ${contender.name} ${Math.round(m.requestsPerSecond)} ${m.cpuMicroseconds.toFixed(1)} server ${m.serverBusy.toFixed(2)} load ${m.loadBusy.toFixed(2)}`);
    } finally {
      await slot.stop();
    }
  }
}
const rps = (name) => measurements.get(name)?.map((m) => m.requestsPerSecond) ?? [];
console.log(toTable(['server', 'requests/s', 'min', 'max', '× MIN', 'cpu'], chosen.map(({ name, title }) => [
  title, String(Math.round(median(rps(name)))), String(Math.round(Math.min(...rps(name)))), String(Math.round(Math.max(...rps(name)))),
  median(ratios(rps(name), rps('min'))).toFixed(2), median(measurements.get(name).map((m) => m.cpuMicroseconds)).toFixed(1),
])));
