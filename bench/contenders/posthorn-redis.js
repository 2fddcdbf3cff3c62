/**
 * toNode with createRedisStore, two round trips per event; `--unpipelined` for the user's client as it comes.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { toNode } from '../../dist/adapters/node.js';
import { createRedisStore } from '../../dist/src/stores/redis/index.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { connectRedis } from './redis-client.js';
import { serve } from './serve.js';

const { values } = parseArgs({ options: { unpipelined: { type: 'boolean', default: false } } });
const redis = await connectRedis({ enableAutoPipelining: !values.unpipelined });
const receiver = createBenchReceiver({ store: createRedisStore(redis, { scope: 'bench' }) });

serve(createServer(toNode(receiver)), countHandled);
