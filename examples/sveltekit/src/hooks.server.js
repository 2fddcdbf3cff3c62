import { receiver } from './lib/server/receiver.js';

/** Once, before the first request. */
export const init = () => {
  process.once('SIGTERM', async () => {
    await receiver.close(); // no new deliveries; the running ones are finished
    process.exit();
  });
};
