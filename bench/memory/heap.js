/** What a remembered id costs in the memory store, and how long it pauses while it grows. */
import { parseArgs } from 'node:util';
import { createMemoryStore } from '../../dist/src/index.js';
import { median } from '../run/statistics.js';
import { toTable } from '../run/table.js';
import { usedBytes } from './used.js';

const MOST_BYTES = 120;
const MOST_PAUSE_MS = 50;
const RETENTION_MS = 86_400_000;

const { values } = parseArgs({
  options: { ids: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } },
});
const count = Number(values.ids);

/**
 * The store gets these very strings, so that their own room is not counted. Read from bytes, as those of JSON
 * are.
 */
const ids = Array.from({ length: count }, (_, index) =>
  Buffer.from(`evt_${String(index).padStart(24, '0')}`).toString('latin1'),
);

/** Claims and completes each id once, as a receiver does, and notes the slowest. */
async function fill(/** @type {import('../../dist/src/index.js').Store} */ store) {
  const slowest = { ms: 0, at: 0 };
  for (const [index, id] of ids.entries()) {
    const startedAt = performance.now();
    await store.claim({ id, token: 'token', leaseMs: 20_000, retentionMs: RETENTION_MS });
    await store.complete({ id, token: 'token', retentionMs: RETENTION_MS });
    const ms = performance.now() - startedAt;
    if (ms > slowest.ms) Object.assign(slowest, { ms, at: index });
    // Lets the event loop turn, as it does between deliveries.
    if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return slowest;
}

/** A function of its own, so that nothing of its store is left when the next one begins. */
async function measure() {
  const before = usedBytes();
  const store = createMemoryStore({ maxEntries: count });
  const slowest = await fill(store);
  const bytesPerId = (usedBytes() - before) / count;
  // The store is still needed here, so none of it was collected above.
  const { state } = await store.claim({ id: ids.at(-1) ?? '', token: 't', leaseMs: 1, retentionMs: 1 });
  if (state !== 'completed') throw new Error('the store has forgotten its last id');
  return { bytesPerId, ...slowest };
}

/** @type {{ bytesPerId: number, ms: number, at: number }[]} */
const rounds = [];
while (rounds.length < Number(values.rounds)) rounds.push(await measure());

const bytesPerId = median(rounds.map((round) => round.bytesPerId));
const pauseMs = median(rounds.map((round) => round.ms));
const all = (/** @type {(round: (typeof rounds)[number]) => string} */ show) => rounds.map(show).join(', ');
console.log(
  `memory store, ${count} ids\n${toTable(
    ['target', 'to reach', 'median', 'rounds', ''],
    [
      [
        'bytes per id beyond its string',
        `≤ ${MOST_BYTES}`,
        bytesPerId.toFixed(1),
        all((round) => round.bytesPerId.toFixed(1)),
        bytesPerId <= MOST_BYTES ? 'pass' : 'MISS',
      ],
      [
        'longest operation, in ms (at id)',
        `≤ ${MOST_PAUSE_MS}`,
        pauseMs.toFixed(1),
        all((round) => `${round.ms.toFixed(1)} (${round.at})`),
        pauseMs <= MOST_PAUSE_MS ? 'pass' : 'MISS',
      ],
    ],
  )}\n`,
);
