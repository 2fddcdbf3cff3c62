// Both senders, for server.ts and worker.ts.

import * as banking from './banking-receiver.ts';
import * as stripe from './stripe-receiver.ts';

export { banking, stripe };

/** Closes both receivers, and then their queues, because a delivery that ends may still add a job. */
export async function close(): Promise<{ readonly abandoned: readonly string[] }> {
  const closed = await Promise.all([banking.receiver.close(), stripe.receiver.close()]);
  await Promise.all([banking.queue.close(), stripe.queue.close()]);
  return { abandoned: closed.flatMap(({ abandoned }) => abandoned) };
}
