/**
 * Many deliveries of one event at once: one run of the handler, an answer to each, and the memory back
 * afterwards.
 */
import { fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connection } from '../load/connection.js';
import { SignedEvents } from '../load/signed-events.js';
import { inMegabytes } from './used.js';

const ROUNDS = 4;
const MOST_GROWTH_BYTES = 2 * 1_048_576;
/** As many connections are opened at once, because the queue of the listening socket holds 511. */
const OPENED_AT_ONCE = 250;

const { values } = parseArgs({ options: { duplicates: { type: 'string', default: '10000' } } });
const count = Number(values.duplicates);

const server = fork(fileURLToPath(new URL('duplicates-server.js', import.meta.url)), {
  execArgv: ['--expose-gc'],
});
const messages = on(server, 'message', { close: ['exit'] });
const message = async () => (await messages.next()).value[0];
const ask = (/** @type {object} */ order) => {
  server.send(order);
  return message();
};

const { port } = await message();
const before = (await ask({ type: 'measure' })).used;
console.log(`${count} concurrent duplicates; in use before: ${inMegabytes(before)}`);

const afterwards = [];
for (let round = 1; round <= ROUNDS; round += 1) {
  const connections = await connect();
  const statuses = await sendDuplicates(connections);
  for (const connection of connections) connection.close();
  const { runs, outcomes, used, rss, peakRss } = await ask({ type: 'measure' });
  afterwards.push(used);
  const isRight = runs === 1 && outcomes.processed === 1 && outcomes.duplicate === count - 1;
  const isAnswered = statuses.length === count && statuses.every((status) => status === 200);
  console.log(
    `round ${round}: handler runs: ${runs}, ${JSON.stringify(outcomes)}; ${statuses.length} answered; ` +
      `RSS at its peak ${inMegabytes(peakRss)}, afterwards ${inMegabytes(rss)}, in use ${inMegabytes(used)}: ` +
      `${isRight && isAnswered ? 'pass' : 'MISS'}`,
  );
}
server.kill();

// The first round compiles code and grows pools that stay.
const growth = Math.max(...afterwards.slice(1)) - (afterwards[0] ?? 0);
console.log(
  `growth after the first round: ${inMegabytes(growth)} (≤ ${inMegabytes(MOST_GROWTH_BYTES)}): ` +
    `${growth <= MOST_GROWTH_BYTES ? 'pass' : 'MISS'}\n`,
);

async function connect() {
  /** @type {Connection[]} */
  const connections = [];
  while (connections.length < count) {
    const batch = Array.from(
      { length: Math.min(OPENED_AT_ONCE, count - connections.length) },
      () => new Connection(port),
    );
    await Promise.all(batch.map((connection) => connection.opened()));
    connections.push(...batch);
  }
  return connections;
}

/** @param {readonly Connection[]} connections */
async function sendDuplicates(connections) {
  const event = new SignedEvents({ scheme: 'service', bodyBytes: 700, count: 1 });
  const request = event.createRequest();
  event.writeNext(request);
  const answers = connections.map(
    (connection) =>
      new Promise((resolve) => {
        connection.onResponse = resolve;
      }),
  );
  // The handler goes on once all of them are there.
  const arrived = ask({ type: 'hold', until: count });
  for (const connection of connections) connection.send(request);
  await arrived;
  return Promise.all(answers);
}
