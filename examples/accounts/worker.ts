// The worker of the queue, for all merchants, in a clone: `node dist/examples/accounts/worker.js`.

import { createBullWorker } from 'posthorn/bullmq';
import { closeOnSignal } from '../environment.ts';
import { serveMetrics } from '../metrics.ts';
import { place, queue, receiver } from './receiver.ts';

const worker = createBullWorker(receiver, { ...place, concurrency: 10 });
serveMetrics();
closeOnSignal(worker, receiver, queue);
