import { catalog, createReceiver } from '../../dist/src/index.js';
import { bearerToken, signingKey } from './credentials.js';

let handled = 0;
let processed = 0;

/** How many events both the handler and the observer have got. */
export const countHandled = () => Math.min(handled, processed);

/**
 * posthorn with everything on: credentials, signature, envelope, lease, an asynchronous typed handler, an
 * observer.
 *
 * @param {Partial<import('../../dist/src/index.js').ReceiverOptions>} [options]
 * @param {object} [variant]
 * @param {typeof createReceiver} [variant.create] that of another build; by default of `dist`
 * @param {boolean} [variant.isKeyed] true for a handler with a concurrency key
 */
export function createBenchReceiver(options = {}, { create = createReceiver, isKeyed = false } = {}) {
  /** @type {import('../../dist/src/index.js').HandlerOptions<{ id: string }>} */
  const handlerOptions = isKeyed ? { name: 'count', concurrencyKey: ({ id }) => id } : {};
  return create({
    signingKey,
    authentication: { type: 'BEARER', bearer: { token: bearerToken } },
    ...options,
  })
    .on(
      'transfer.succeeded',
      async (event) => {
        if (event.data.amount !== undefined) handled += 1;
      },
      handlerOptions,
    )
    .observe(({ outcome }) => {
      if (outcome === 'processed') processed += 1;
    });
}

/**
 * Registers handlers that no event of the load is for.
 *
 * @param {ReturnType<typeof createBenchReceiver>} receiver
 * @param {number} count
 */
export function addIdleHandlers(receiver, count) {
  const types = Object.entries(catalog).flatMap(([entity, names]) =>
    names.map((name) => `${entity}.${name}`),
  );
  const others = types.filter((type) => type !== 'transfer.succeeded');
  for (let index = 0; index < count; index += 1) {
    const pattern = /** @type {import('../../dist/src/index.js').EventType} */ (
      others[index % others.length]
    );
    receiver.on(pattern, async () => {}, { name: `idle-${index}` });
  }
}
