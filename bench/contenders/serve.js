/** @typedef {{ type: 'usage' } | { type: 'stop' }} Request */

/**
 * Listens on a free port, tells it to the runner (or prints it, where the program was started by hand), and
 * tells how many events were handled and what processor time that took, when asked. None of it lies in the
 * way of a request.
 *
 * @param {import('node:http').Server} server
 * @param {() => number} countHandled
 */
export function serve(server, countHandled) {
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    if (process.send === undefined) console.log(`listening on port ${port}`);
    else process.send({ port });
  });
  process.on('message', (/** @type {Request} */ { type }) => {
    // A profile of `--cpu-prof` is written by an orderly exit only.
    if (type === 'stop') process.exit();
    const { user, system } = process.cpuUsage();
    process.send?.({
      handled: countHandled(),
      cpuMicroseconds: user + system,
      rssBytes: process.memoryUsage.rss(),
    });
  });
  process.on('SIGINT', () => {
    console.log(`${countHandled()} handled`);
    process.exit();
  });
}
