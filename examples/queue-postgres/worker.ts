// The worker of the queue, in a clone: `node dist/examples/queue-postgres/worker.js`.

import { createBullWorker } from 'posthorn/bullmq';
import { closeOnSignal } from '../environment.ts';
import { place, queue, receiver } from './receiver.ts';

const worker = createBullWorker(receiver, { ...place, concurrency: 10 });
console.log('working');
closeOnSignal(worker, receiver, queue);
