/** MIN with two plain unnamed statements in the place of its Map: claimed for a while, then completed. */
import { createServer } from 'node:http';
import { answerAccepted } from './answer-accepted.js';
import { countHandled, handle, isSigned } from './minimum.js';
import { createPool } from './postgres-pool.js';
import { serve } from './serve.js';

const pool = createPool();

const CLAIM = `insert into bench.events (id, claimed_until) values ($1, now() + interval '20 seconds')
  on conflict (id) do update set claimed_until = excluded.claimed_until
  where events.completed_at is null and events.claimed_until < now()`;

const COMPLETE = 'update bench.events set completed_at = now() where id = $1';

/**
 * @param {Buffer} body
 * @param {string | undefined} signature
 */
async function accept(body, signature = '') {
  if (!isSigned(body, signature)) return 403;
  const event = JSON.parse(body.toString());
  const { rowCount } = await pool.query(CLAIM, [event.id]);
  if (rowCount === 0) return 200;
  handle(event);
  await pool.query(COMPLETE, [event.id]);
  return 200;
}

serve(createServer(answerAccepted(accept)), countHandled);
