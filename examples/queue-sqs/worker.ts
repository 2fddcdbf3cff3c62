// The worker of the queue, in a clone: `node dist/examples/queue-sqs/worker.js`.

import { closeOnSignal } from '../environment.ts';
import { place, queue, receiver } from './receiver.ts';
import { runSqsWorker } from './sqs-queue.ts';

const stop = new AbortController();
const workers = Array.from({ length: 10 }, () => runSqsWorker(receiver, place, stop.signal));
console.log('working');
closeOnSignal({ close: () => stop.abort() }, receiver, {
  async close(): Promise<void> {
    await Promise.all(workers); // they still delete the messages of their last jobs
    await queue.close();
  },
});
