// The workers of both queues in one process, in a clone:
// `STRIPE_SIGNING_KEY=whsec_… node dist/examples/two-senders/worker.js`.

import { createBullWorker } from 'posthorn/bullmq';
import { closeOnSignal } from '../environment.ts';
import { serveMetrics } from '../metrics.ts';
import * as senders from './senders.ts';

const workers = [senders.banking, senders.stripe].map(({ receiver, place }) =>
  createBullWorker(receiver, place),
);
serveMetrics();
closeOnSignal({ close: () => Promise.all(workers.map((worker) => worker.close())) }, senders);
