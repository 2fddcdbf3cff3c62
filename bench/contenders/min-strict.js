import { createServer } from 'node:http';
import * as z from 'zod';
import { bearerToken } from './credentials.js';
import { countHandled, handle, isSigned } from './minimum.js';
import { serve } from './serve.js';

const envelope = z.object({
  id: z.string().min(1),
  type: z.string().regex(/^[^.]+(\.[^.]+)+$/),
  created_at: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
});
const seen = new Map();

/**
 * MIN with what it leaves out: credentials, a checked envelope, an asynchronous handler. Written plainly.
 *
 * @param {Buffer} body
 * @param {import('node:http').IncomingHttpHeaders} headers
 */
async function accept(body, headers) {
  if (headers.authorization !== `Bearer ${bearerToken}`) return 401;
  if (!isSigned(body, String(headers['x-service-signature']))) return 403;
  const { success, data: event } = envelope.safeParse(JSON.parse(body.toString()));
  if (!success) return 400;
  if (seen.has(event.id)) return 200;
  seen.set(event.id, Date.now());
  await handleAsync(event);
  return 200;
}

/** @param {z.output<typeof envelope>} event */
async function handleAsync(event) {
  handle(event);
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

serve(server, countHandled);
