/**
 * @typedef {object} FixedRateResult
 * @property {number} sent
 * @property {number} refused how many were answered by anything but 2xx
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} p999Ms
 * @property {number} lateP99Ms how much later than planned an event was sent though a connection was free:
 * the generator's own fault
 */

/** How long the generator sleeps where nothing is due: it may share its core with Redis. */
const NAP_MS = 0.05;
const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * Sends events at planned times, whatever becomes of the earlier ones. Latency counts from the planned time,
 * so that events which had to wait for a free connection count in full: a stalled server cannot hide its
 * stall (no coordinated omission).
 *
 * @param {readonly import('./connection.js').Connection[]} connections
 * @param {import('./signed-events.js').SignedEvents} events
 * @param {{ rate: number, durationMs: number }} plan `rate` in events per second
 * @returns {Promise<FixedRateResult>}
 */
export function runFixedRate(connections, events, { rate, durationMs }) {
  return new Promise((resolve, reject) => {
    const count = Math.min(events.left, Math.floor((rate * durationMs) / 1_000));
    const latencies = new Float64Array(count);
    /** @type {number[]} */
    const lateness = [];
    const startedAt = performance.now();
    const plannedAt = (/** @type {number} */ index) => startedAt + (index * 1_000) / rate;
    let sent = 0;
    let answered = 0;
    let refused = 0;
    let exhaustedAt = startedAt;

    const idle = connections.map((connection) => {
      const sender = { connection, request: events.createRequest(), index: 0 };
      connection.onResponse = (status) => {
        if (status === 0) return reject(new Error('the server closed a connection'));
        if (status >= 300) refused += 1;
        latencies[sender.index] = performance.now() - plannedAt(sender.index);
        answered += 1;
        idle.push(sender);
      };
      return sender;
    });

    const sendDue = () => {
      const now = performance.now();
      while (sent < count && plannedAt(sent) <= now) {
        // The one that has been idle for longest: servers close connections that are not used for some seconds.
        const sender = idle.shift();
        if (sender === undefined) {
          exhaustedAt = now;
          return;
        }
        if (plannedAt(sent) > exhaustedAt) lateness.push(now - plannedAt(sent));
        sender.index = sent;
        sent += 1;
        events.writeNext(sender.request);
        sender.connection.send(sender.request);
      }
    };
    const step = () => {
      sendDue();
      if (answered === count) {
        const [p50Ms, p99Ms, p999Ms] = [0.5, 0.99, 0.999].map((share) => percentile(latencies, share));
        return resolve({ sent, refused, p50Ms, p99Ms, p999Ms, lateP99Ms: percentile(lateness, 0.99) });
      }
      Atomics.wait(nap, 0, 0, NAP_MS);
      setImmediate(step);
    };
    step();
  });
}

/**
 * @param {ArrayLike<number>} values
 * @param {number} share
 */
function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
