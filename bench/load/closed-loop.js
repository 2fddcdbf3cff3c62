/**
 * @typedef {object} ClosedLoopResult
 * @property {number} sent
 * @property {number} refused how many were answered by anything but 2xx
 * @property {number} requestsPerSecond
 */

/**
 * Each connection sends its next event as soon as the last one was answered, until the time is over or the
 * events run out.
 *
 * @param {readonly import('./connection.js').Connection[]} connections
 * @param {import('./signed-events.js').SignedEvents} events
 * @param {number} durationMs
 * @returns {Promise<ClosedLoopResult>} once everything that was sent has been answered
 */
export function runClosedLoop(connections, events, durationMs) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const result = { sent: 0, refused: 0, requestsPerSecond: 0 };
    let answered = 0;
    let isOver = false;

    const end = (/** @type {number} */ elapsedMs) => {
      isOver = true;
      result.requestsPerSecond = (answered * 1_000) / elapsedMs;
    };
    for (const connection of connections) {
      const request = events.createRequest();
      const sendNext = () => {
        events.writeNext(request);
        result.sent += 1;
        connection.send(request);
      };
      connection.onResponse = (status) => {
        if (status === 0) return reject(new Error('the server closed a connection'));
        answered += 1;
        if (status >= 300) result.refused += 1;
        const elapsedMs = performance.now() - startedAt;
        if (!isOver && (elapsedMs >= durationMs || events.left === 0)) end(elapsedMs);
        if (!isOver) sendNext();
        else if (answered === result.sent) resolve(result);
      };
      sendNext();
    }
  });
}
