/**
 * Memory over many events at a fixed retention. The receiver and its store are given a clock that moves 6 ms
 * with each event, so that some 110,000 ids are remembered at any time, and the limit on entries lies far
 * above.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createMemoryStore } from '../../dist/src/index.js';
import { bearerToken, signingKey } from '../contenders/credentials.js';
import { countHandled, createBenchReceiver } from '../contenders/posthorn-receiver.js';
import { createTemplate, ID_LENGTH } from '../load/event-template.js';
import { inMegabytes, usedBytes } from './used.js';

const CONCURRENCY = 50;
const MS_PER_EVENT = 6;
const RETENTION_MS = 60_000;
const LINES = 20;
/**
 * When the first of the lines are printed, ids have begun to expire; from there to the end memory must not
 * grow.
 */
const FIRST_LINES = 2;
const MOST_GROWTH = 1.1;

const { values } = parseArgs({ options: { events: { type: 'string', default: '10000000' } } });
const total = Number(values.events);

let time = Date.now();
const now = () => time;
const receiver = createBenchReceiver({
  store: createMemoryStore({ maxEntries: 2_000_000, now }),
  retryScheduleMs: [RETENTION_MS],
  retentionMs: RETENTION_MS,
  now,
});

const { body: template, idOffset } = createTemplate(700);
const createdAtOffset = template.indexOf('"created_at":"') + '"created_at":"'.length;
const key = createSecretKey(signingKey, 'utf8');

/** @param {number} index */
function deliveryOf(index) {
  time += MS_PER_EVENT;
  const body = Buffer.from(template);
  body.write(`evt_${String(index).padStart(ID_LENGTH - 4, '0')}`, idOffset, 'latin1');
  body.write(new Date(time).toISOString(), createdAtOffset, 'latin1');
  return {
    method: 'POST',
    headers: {
      authorization: [`Bearer ${bearerToken}`],
      'content-length': [String(body.length)],
      'x-service-signature': [createHmac('sha256', key).update(body).digest('hex')],
    },
    readBody: async () => body,
  };
}

/**
 * @param {number} from
 * @param {number} to
 */
async function deliver(from, to) {
  let next = from;
  const sender = async () => {
    while (next < to) {
      next += 1;
      await receiver.receive(deliveryOf(next));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sender));
}

console.log('    events |  RSS       | in use');
/** @type {number[]} */
const samples = [];
const step = Math.ceil(total / LINES);
for (let done = 0; done < total; done += step) {
  await deliver(done, Math.min(total, done + step));
  // Timers and other rests of answered deliveries go with the next turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 10));
  const rss = process.memoryUsage.rss();
  const used = usedBytes();
  samples.push(used);
  const events = String(Math.min(total, done + step)).padStart(10);
  console.log(`${events} | ${inMegabytes(rss).padStart(10)} | ${inMegabytes(used).padStart(10)}`);
}

if (countHandled() !== total) throw new Error(`${countHandled()} of ${total} events were handled`);
const peak = (/** @type {number[]} */ part) => Math.max(...part);
const growth = peak(samples.slice(FIRST_LINES)) / peak(samples.slice(0, FIRST_LINES));
console.log(
  `\n${total} events at a fixed retention: in use at most ${growth.toFixed(3)} × what was in use in the beginning ` +
    `(≤ ${MOST_GROWTH}): ${growth <= MOST_GROWTH ? 'pass' : 'MISS'}\n`,
);
