/**
 * toNode with createRedisStore, two round trips per event; `--unpipelined` for the user's client as it comes;
 * `--keyed` for a handler with a concurrency key, which is free for each event.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { toNode } from '../../dist/adapters/node.js';
import { createRedisStore } from '../../dist/src/stores/redis/index.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { connectRedis } from './redis-client.js';
import { serve } from './serve.js';

const flag = /** @type {const} */ ({ type: 'boolean', default: false });
const { values } = parseArgs({ options: { unpipelined: flag, keyed: flag } });
const redis = await connectRedis({ enableAutoPipelining: !values.unpipelined });
const store = createRedisStore(redis, { scope: 'bench' });
const receiver = createBenchReceiver({ store }, { isKeyed: values.keyed });

serve(createServer(toNode(receiver)), countHandled);
