// A worker without jobs, or a queue to which nothing is added.
import { createReceiver } from '../../../dist/src/index.js';
import { signingKey } from '../../contenders/credentials.js';
import { openServer } from './server.js';

const server = openServer(process.env.BACKEND === 'postgres' ? 'postgres' : 'redis');
const queue = server.createQueue('posthorn');
if (process.env.IDLER === 'worker') {
  const receiver = createReceiver({ signingKey, queue: server.createQueue('posthorn') });
  server.createWorker(
    receiver.on('*', async () => {}, { name: 'book', queue: true }),
    'posthorn',
    10,
  );
}

process.on('message', () => process.exit());
while (queue.mustWait?.() === true) await new Promise((resolve) => setTimeout(resolve, 50));
process.send?.({ type: 'ready' });
