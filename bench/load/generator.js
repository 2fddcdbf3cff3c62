/**
 * The load, in a process of its own. It is told what to do by messages: the ways to end with a result are
 * `check` (one event as it should be, and one that was changed after it had been signed), `closedLoop` and
 * `fixedRate`. With `--awake` it never sleeps in a closed loop.
 */
import { runClosedLoop } from './closed-loop.js';
import { Connection } from './connection.js';
import { runFixedRate } from './fixed-rate.js';
import { SignedEvents } from './signed-events.js';

/**
 * @typedef {object} Target
 * @property {number} port
 * @property {string} scheme
 * @property {number} bodyBytes
 * @property {number} connections
 */

/**
 * @typedef {{ type: 'check' | 'closedLoop' | 'fixedRate', target: Target, count: number, rate: number,
 * durationMs: number }} Order
 */

/** @type {Connection[]} */
let connections = [];

/** @param {Target} target */
async function connect({ port, connections: count }) {
  if (connections.length > 0) return;
  connections = Array.from({ length: count }, () => new Connection(port));
  await Promise.all(connections.map((connection) => connection.opened()));
}

/** @param {Target} target */
async function check(target) {
  const connection = new Connection(target.port);
  await connection.opened();
  const events = new SignedEvents({ ...target, count: 2 });
  const request = events.createRequest();
  const statusOf = () =>
    new Promise((resolve) => {
      connection.onResponse = resolve;
      connection.send(request);
    });
  events.writeNext(request);
  const accepted = await statusOf();
  events.writeNext(request);
  // The amount, which is signed like everything else.
  request.write('9', request.indexOf('"amount":') + '"amount":'.length);
  const tampered = await statusOf();
  connection.close();
  return { accepted, tampered };
}

/** @param {Order} order */
async function run({ type, target, count, rate, durationMs }) {
  if (type === 'check') return check(target);
  await connect(target);
  const events = new SignedEvents({ ...target, count });
  process.send?.({ type: 'begins' });
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const result =
    type === 'closedLoop'
      ? await runClosedLoop(connections, events, durationMs)
      : await runFixedRate(connections, events, { rate, durationMs });
  const { user, system } = process.cpuUsage(before);
  return { ...result, busy: (user + system) / 1_000 / (performance.now() - startedAt) };
}

process.on('message', async (/** @type {Order | { type: 'stop' }} */ order) => {
  if (order.type === 'stop') process.exit();
  try {
    process.send?.({ type: 'result', result: await run(order) });
  } catch (error) {
    process.send?.({ type: 'failure', message: String(error) });
  }
});
process.on('disconnect', () => process.exit());

/**
 * A server that answers a load which sleeps has to wake it, and on the same machine that takes longer than to
 * write the answer.
 */
function stayAwake() {
  setImmediate(stayAwake);
}
if (process.argv.includes('--awake')) stayAwake();
