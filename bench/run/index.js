import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { readOptions } from './options.js';
import { pinningNote } from './pinning.js';
import { startPostgresWithTables } from './postgres-tables.js';
import { startRedis } from './redis-server.js';
import { latencyTable, targetTable, throughputTable } from './report.js';
import { measureHalfLoad, measureThroughput } from './rounds.js';

const { chosen, rounds, slot, json } = readOptions(process.argv.slice(2));
const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim()}, Node.js ${process.version}; ${pinningNote}`;
console.log(
  `${machine}\n${rounds} rounds of ${slot.durationMs / 1_000} s after ${slot.warmUpMs / 1_000} s, ${slot.connections} connections${slot.loadFlags.map((flag) => `, load ${flag}`).join('')}\n`,
);

const redis = chosen.some(({ needsRedis }) => needsRedis) ? await startRedis() : undefined;
const postgres = chosen.some(({ needsPostgres }) => needsPostgres)
  ? await startPostgresWithTables()
  : undefined;
try {
  const course = {
    rounds,
    slot: { ...slot, environment: { REDIS_PORT: String(redis?.port), POSTGRES_URL: postgres?.url } },
    reset: async () => {
      await redis?.empty();
      await postgres?.empty();
    },
    tell: (/** @type {string} */ text) => console.error(text),
  };
  const throughput = await measureThroughput(chosen, course);
  const halfLoad = await measureHalfLoad(chosen, course, throughput);

  console.log(`\n${throughputTable(chosen, throughput)}\n`);
  if (halfLoad !== undefined)
    console.log(`At ${halfLoad.rate} requests/s:\n\n${latencyTable(halfLoad.latencies)}\n`);
  console.log(targetTable(throughput, halfLoad?.latencies));
  if (json !== undefined) writeFileSync(json, toJson(throughput, halfLoad));
} finally {
  await redis?.stop();
  await postgres?.stop();
}

/**
 * @param {import('./report.js').Throughput} throughput
 * @param {{ rate: number, latencies: import('./report.js').Latencies } | undefined} halfLoad
 */
function toJson(throughput, halfLoad) {
  const latency =
    halfLoad === undefined ? {} : { rate: halfLoad.rate, rounds: Object.fromEntries(halfLoad.latencies) };
  const result = { machine, rounds, slot, throughput: Object.fromEntries(throughput), latency };
  return `${JSON.stringify(result, null, 2)}\n`;
}
