/**
 * The server of duplicates.js: its handler goes on when as many requests have arrived as it was told to wait for.
 */
import { createServer } from 'node:http';
import { toNode } from '../../dist/adapters/node.js';
import { createReceiver } from '../../dist/src/index.js';
import { bearerToken, signingKey } from '../contenders/credentials.js';
import { usedBytes } from './used.js';

let requests = 0;
let awaited = 0;
let runs = 0;
let peakRss = 0;
/** @type {Record<string, number>} */
let outcomes = {};
let release = () => {};
/** @type {Promise<void>} */
let gate = Promise.resolve();

const receiver = createReceiver({
  signingKey,
  authentication: { type: 'BEARER', bearer: { token: bearerToken } },
})
  .on('transfer.succeeded', async () => {
    runs += 1;
    await gate;
  })
  .observe(({ outcome }) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  });
const listener = toNode(receiver);

const server = createServer((request, response) => {
  listener(request, response);
  requests += 1;
  if (requests === awaited) setTimeout(letGo, 100);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});

/** A little later than the arrival of the last request, so that it too has joined. */
function letGo() {
  peakRss = process.memoryUsage.rss();
  release();
  process.send?.({});
}

/** @param {number} until */
function hold(until) {
  awaited = until;
  [requests, runs, outcomes] = [0, 0, {}];
  gate = new Promise((resolve) => {
    release = resolve;
  });
}

async function measure() {
  // Until the connections that the client has closed are closed here.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const used = usedBytes();
  process.send?.({ runs, outcomes, peakRss, used, rss: process.memoryUsage.rss() });
}

process.on('message', (/** @type {{ type: 'hold' | 'measure', until: number }} */ { type, until }) => {
  if (type === 'hold') hold(until);
  else void measure();
});
