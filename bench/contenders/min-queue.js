/** MIN with `queue.add` of BullMQ in the place of its handler: the same job, with the same options. */
import { createServer } from 'node:http';
import { Queue } from 'bullmq';
import { isSigned } from './minimum.js';
import { serve } from './serve.js';

const queue = new Queue('bench', {
  connection: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) },
  prefix: '{posthorn}',
  defaultJobOptions: {
    attempts: 10,
    backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: false,
    stackTraceLimit: 3,
  },
});
/** Ids are never forgotten, as in MIN. */
const seen = new Set();
let queued = 0;

/**
 * @param {Buffer} body
 * @param {import('node:http').IncomingHttpHeaders} headers
 */
async function accept(body, headers) {
  if (!isSigned(body, String(headers['x-service-signature']))) return 403;
  const { id, type } = JSON.parse(body.toString());
  if (seen.has(id)) return 200;
  seen.add(id);
  const now = Date.now();
  const kept = Object.entries(headers).filter(([name]) => name !== 'authorization');
  const job = {
    version: 1,
    id,
    type,
    rawBody: body.toString('base64'),
    headers: Object.fromEntries(kept.map(([name, value]) => [name, [value]])),
    receivedAt: now,
    queuedAt: now,
    handled: [],
    handlers: ['book'],
    isParked: false,
  };
  await queue.add(type, job, { jobId: `event-${id}` });
  queued += 1;
  return 202;
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    response.statusCode = await accept(Buffer.concat(chunks), request.headers);
    response.end('ok');
  });
});

serve(server, () => queued);
