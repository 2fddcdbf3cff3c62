import { once } from 'node:events';
import { createServer } from 'node:http';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { toNode } from '../../../adapters/node.ts';
import { createReceiver } from '../../../src/index.ts';
import type { StoreOperation } from '../../stores/kit/store-operations.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import type { ProcessData } from './follow.ts';

// A process that receives deliveries: a thread, which can die as suddenly. Its store is in the thread that
// began it.

const { handler, signingKey, aheadMs }: ProcessData = workerData;

const handlers = {
  succeeds: () => {},
  // Ends the thread only.
  crashes: () => process.exit(),
  fails: () => {
    throw new Error('the ledger refuses the event');
  },
};

const ask = (operation: StoreOperation) => async (request: object) => {
  const { port1, port2 } = new MessageChannel();
  parentPort?.postMessage({ operation, request, replyTo: port2 }, [port2]);
  const [answer] = await once(port1, 'message');
  port1.close();
  return answer;
};

const receiver = createReceiver({
  signingKey,
  store: { claim: ask('claim'), renew: ask('renew'), complete: ask('complete'), release: ask('release') },
  deadLetters: createMapDeadLetters(),
  now: () => Date.now() + aheadMs,
});
receiver.on('*', () => {
  globalThis.noteCall?.('handler');
  handlers[handler]();
});
receiver.observe(() => {});

const listener = toNode(receiver);
const server = createServer((request, response) => {
  globalThis.noteCall = (called) => parentPort?.postMessage({ called });
  response.once('finish', () => {
    globalThis.noteCall = undefined;
  });
  listener(request, response);
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage({ address: server.address() }));
