/**
 * Builds of posthorn (folders that `npm run build` makes) in one process, each on a port of its own; `min` is
 * the hand-written minimum, and `metrics`, `logs` and `traces` are `dist` with an observer. It tells the ports, and when asked how many events were handled and what
 * processor time was used.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerMinimum, countHandled as countMinimum } from '../contenders/minimum.js';
import { observers } from '../contenders/observers.js';
import { countHandled, createBenchReceiver } from '../contenders/posthorn-receiver.js';

/**
 * @param {string} build the URL of a folder, or `min`
 * @returns {Promise<import('node:http').RequestListener>}
 */
async function createListener(build) {
  if (build === 'min') return answerMinimum;
  if (build in observers) return await createObserved(observers[build]);
  const { toNode } = await import(`${build}/adapters/node.js`);
  const { createReceiver } = await import(`${build}/src/index.js`);
  return toNode(createBenchReceiver({}, { create: createReceiver }));
}

/** @param {typeof observers[string]} observe */
async function createObserved(observe) {
  const { toNode } = await import('../../dist/adapters/node.js');
  const receiver = createBenchReceiver();
  await observe(receiver);
  return toNode(receiver);
}

/** @param {string} build */
async function listen(build) {
  const server = createServer(await createListener(build));
  // Its connections have nothing to do while the other builds take their turn.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

process.on('disconnect', () => process.exit());

const ports = [];
for (const build of process.argv.slice(2)) ports.push(await listen(build));
process.send?.({ ports });

process.on('message', (/** @type {{ type: 'usage' | 'stop' }} */ { type }) => {
  if (type === 'stop') process.exit();
  const { user, system } = process.cpuUsage();
  process.send?.({ handled: countHandled() + countMinimum(), cpuMicroseconds: user + system });
});
