/**
 * `insert … on conflict do nothing` by hand, in the transaction of the handler. `--receiver posthorn` has
 * posthorn in front of it; `--receiver min` has MIN, which checks the signature only.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { toNode } from '../../dist/adapters/node.js';
import { answerAccepted } from './answer-accepted.js';
import { book } from './ledger.js';
import { countHandled as countOfMinimum, handle, isSigned } from './minimum.js';
import { createPool } from './postgres-pool.js';
import { countHandled as countOfPosthorn, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const { values } = parseArgs({ options: { receiver: { type: 'string', default: 'posthorn' } } });
const pool = createPool();

/** @param {{ id: string }} event */
async function bookOnce(event) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const record = 'insert into bench.inbox (event_id, handler) values ($1, $2) on conflict do nothing';
    const { rowCount } = await client.query(record, [event.id, 'book']);
    if (rowCount === 1) await book(client, event);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/**
 * @param {Buffer} body
 * @param {string | undefined} signature
 */
async function accept(body, signature = '') {
  if (!isSigned(body, signature)) return 403;
  const event = JSON.parse(body.toString());
  await bookOnce(event);
  handle(event);
  return 200;
}

if (values.receiver === 'min') serve(createServer(answerAccepted(accept)), countOfMinimum);
else {
  const receiver = createBenchReceiver().on('transfer.succeeded', bookOnce);
  serve(createServer(toNode(receiver)), countOfPosthorn);
}
