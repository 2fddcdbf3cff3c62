/** toNode with createPostgresStore over a plain pool of pg. */
import { createServer } from 'node:http';
import { toNode } from '../../dist/adapters/node.js';
import { createPostgresStore } from '../../dist/src/stores/postgres/index.js';
import { createPool } from './postgres-pool.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const receiver = createBenchReceiver({ store: createPostgresStore(createPool(), { scope: 'bench' }) });

serve(createServer(toNode(receiver)), countHandled);
