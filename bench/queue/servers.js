// The queue on PostgreSQL beside the same on Redis: adding, handling, latency, what idle processes ask, and
// bytes. What is compared takes turns, so that what disturbs the machine disturbs all of it. Starts servers of
// its own.
import { parseArgs } from 'node:util';
import { pinningNote } from '../run/pinning.js';
import { toTable } from '../run/table.js';
import { measureAdding } from './servers/adding.js';
import { measureBytes } from './servers/bytes.js';
import { measureHandling } from './servers/handling.js';
import { startIdlers } from './servers/idle.js';
import { measureLatency } from './servers/latency.js';
import { startServers } from './servers/start-servers.js';

const PARTS = ['adding', 'handling', 'latency', 'idle', 'bytes'];
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    rounds: { type: 'string', default: '9' },
    events: { type: 'string', default: '300' },
    fsync: { type: 'string', default: 'on' },
    // The events that go through PgBouncer, which each take seconds.
    pgbouncer: { type: 'string', default: '0' },
  },
});
const parts = values.only.split(',');
const unknown = parts.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`there is no part "${unknown}": ${PARTS.join(', ')}`);
const [rounds = 0, events = 0, bounced = 0] = [values.rounds, values.events, values.pgbouncer].map(Number);

console.log(`fsync of PostgreSQL ${values.fsync}, Redis with an AOF synced each second; ${pinningNote}`);
// They are idle while the others are measured, so that they need no time of their own.
const idlers = parts.includes('idle') ? await startIdlers() : undefined;
const servers = await startServers(values.fsync);
try {
  if (parts.includes('adding')) print(await measureAdding(servers, rounds));
  if (parts.includes('handling')) print(await measureHandling(servers, rounds));
  if (parts.includes('latency')) print(await measureLatency(servers, events, bounced));
  if (parts.includes('bytes')) print(await measureBytes(servers));
  if (idlers !== undefined) print(await idlers.count());
} finally {
  await Promise.all([servers.stop(), idlers?.stop()]);
}

/** @param {{ title: string, head: readonly string[], rows: readonly (readonly string[])[] }} table */
function print({ title, head, rows }) {
  console.log(`\n${title}\n\n${toTable(head, rows)}`);
}
