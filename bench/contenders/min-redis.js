/**
 * MIN with Redis in the place of its Map: `--dedupe one|two|scripts`, and `--unpipelined` for a client as it
 * comes.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { answerAccepted } from './answer-accepted.js';
import { countHandled, handle, isSigned } from './minimum.js';
import { connectRedis } from './redis-client.js';
import { dedupes } from './redis-dedupe.js';
import { serve } from './serve.js';

const { values } = parseArgs({
  options: { dedupe: { type: 'string', default: 'two' }, unpipelined: { type: 'boolean', default: false } },
});
const redis = await connectRedis({ enableAutoPipelining: !values.unpipelined });
const dedupe = await dedupes[values.dedupe](redis);

/**
 * @param {Buffer} body
 * @param {string | undefined} signature
 */
async function accept(body, signature = '') {
  if (!isSigned(body, signature)) return 403;
  const event = JSON.parse(body.toString());
  if (!(await dedupe.claim(event.id))) return 200;
  handle(event);
  await dedupe.complete(event.id);
  return 200;
}

serve(createServer(answerAccepted(accept)), countHandled);
