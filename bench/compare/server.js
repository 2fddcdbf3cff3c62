/**
 * Builds of posthorn (folders that `npm run build` makes) in one process, each on a port of its own; `min` is
 * the hand-written minimum, and `metrics`, `logs` and `traces` are `dist` with an observer. It tells the ports,
 * and when asked how many events were handled, what processor time was used, and how many commands the server
 * of the stores has got.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerMinimum, countHandled as countMinimum } from '../contenders/minimum.js';
import { observers } from '../contenders/observers.js';
import { countHandled, createBenchReceiver } from '../contenders/posthorn-receiver.js';
import { stores } from './stores.js';

const store = await stores[process.env.STORE ?? 'memory']();

/**
 * @param {string} build the URL of a folder, or `min`
 * @param {number} number
 * @returns {Promise<import('node:http').RequestListener>}
 */
async function createListener(build, number) {
  if (build === 'min') return answerMinimum;
  if (build in observers) return await createObserved(observers[build]);
  const { toNode } = await import(`${build}/adapters/node.js`);
  const { createReceiver } = await import(`${build}/src/index.js`);
  const options = await store.create(build, number, { journal: build === process.env.JOURNAL });
  return toNode(createBenchReceiver(options, { create: createReceiver }));
}

/** @param {typeof observers[string]} observe */
async function createObserved(observe) {
  const { toNode } = await import('../../dist/adapters/node.js');
  const receiver = createBenchReceiver();
  await observe(receiver);
  return toNode(receiver);
}

/**
 * @param {string} build
 * @param {number} number
 */
async function listen(build, number) {
  const server = createServer(await createListener(build, number));
  // Its connections have nothing to do while the other builds take their turn.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

process.on('disconnect', () => process.exit());

const ports = [];
for (const [number, build] of process.argv.slice(2).entries()) ports.push(await listen(build, number));
process.send?.({ ports });

process.on('message', async (/** @type {{ type: 'usage' | 'stop' }} */ { type }) => {
  if (type === 'stop') process.exit();
  const { user, system } = process.cpuUsage();
  const commands = await store.countCommands();
  process.send?.({ handled: countHandled() + countMinimum(), cpuMicroseconds: user + system, commands });
});
