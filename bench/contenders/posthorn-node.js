/**
 * toNode; with `--handlers` registered handlers, a memory store that is full with `--remembered` ids, or what
 * `--observed-by` names: metrics, logs or traces.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { toNode } from '../../dist/adapters/node.js';
import { createMemoryStore } from '../../dist/src/index.js';
import { observers } from './observers.js';
import { addIdleHandlers, countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

const { values } = parseArgs({
  options: {
    handlers: { type: 'string', default: '1' },
    remembered: { type: 'string' },
    'observed-by': { type: 'string' },
  },
});

/** @param {number} count */
async function createFullStore(count) {
  const store = createMemoryStore({ maxEntries: count });
  const retentionMs = 86_400_000;
  for (let index = 0; index < count; index += 1) {
    const claim = { id: `evt_remembered_${String(index).padStart(13, '0')}`, token: 'filling', retentionMs };
    await store.claim({ ...claim, leaseMs: 20_000 });
    await store.complete(claim);
  }
  return store;
}

const store = values.remembered === undefined ? undefined : await createFullStore(Number(values.remembered));
const receiver = createBenchReceiver(store === undefined ? {} : { store });
addIdleHandlers(receiver, Number(values.handlers) - 1);
if (values['observed-by'] !== undefined) await observers[values['observed-by']](receiver);

serve(createServer(toNode(receiver)), countHandled);
