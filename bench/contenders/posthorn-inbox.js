/** toNode with an inbox around the handler, and ids remembered in memory. */
import { createServer } from 'node:http';
import { toNode } from '../../dist/adapters/node.js';
import { createPostgresInbox } from '../../dist/src/stores/postgres/index.js';
import { book } from './ledger.js';
import { createPool } from './postgres-pool.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const inbox = createPostgresInbox(createPool(), { scope: 'bench' });
const receiver = createBenchReceiver().on(
  'transfer.succeeded',
  inbox.once('book', (event, { transaction }) => book(transaction, event)),
);

serve(createServer(toNode(receiver)), countHandled);
