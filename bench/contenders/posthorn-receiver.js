import { createReceiver } from '../../dist/src/index.js';
import { bearerToken, signingKey } from './credentials.js';

let handled = 0;
let processed = 0;

/** How many events both the handler and the observer have got. */
export const countHandled = () => Math.min(handled, processed);

/**
 * posthorn with everything on: credentials, signature, envelope, lease, an async typed handler, an observer.
 *
 * @param {Partial<import('../../dist/src/index.js').ReceiverOptions>} [options]
 */
export function createBenchReceiver(options = {}) {
  return createReceiver({
    signingKey,
    authentication: { type: 'BEARER', bearer: { token: bearerToken } },
    ...options,
  })
    .on('transfer.succeeded', async (event) => {
      if (event.data.amount !== undefined) handled += 1;
    })
    .observe(({ outcome }) => {
      if (outcome === 'processed') processed += 1;
    });
}
