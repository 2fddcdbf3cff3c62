import type { KnownEvent } from '../../providers/banking-service/event.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import { createEChecks, type EChecks } from './e-checks.ts';
import { createFxQuotes, type FxQuotes } from './fx-quotes.ts';
import { type ClientOptions, readClientOptions } from './options.ts';
import {
  type Currencies,
  createCurrencies,
  createPaymentPurposes,
  type PaymentPurposes,
} from './reference-lists.ts';
import { createRequest, type SendRequest } from './request.ts';
import { createService } from './service.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

/**
 * A client of the service, apart from its deliveries. Every method takes `{ signal }` last. It rejects with a
 * {@link ServiceError} if the service fails, and with a `ConfigurationError` if the call is wrong or lacks
 * its credentials. `E` is the union of the events of the option `provider`.
 */
export interface Client<E extends TypedEvent = KnownEvent> {
  /** Creates, lists, updates and rotates webhooks; needs `administrator`. */
  readonly webhooks: Webhooks<E>;
  /** Creates and retrieves FX quotes; needs `banking`. */
  readonly fxQuotes: FxQuotes;
  /** Looks up eChecks; needs `banking`. */
  readonly eChecks: EChecks;
  /** Lists the purposes of cross-border wires; needs `profile`. */
  readonly paymentPurposes: PaymentPurposes;
  /** Lists the supported currencies; needs `profile`. */
  readonly currencies: Currencies;
  /**
   * Sends a request of your own, for an operation that the interface does not show. It uses the credentials,
   * time limits, errors and redaction of the other methods. Resolves with an unchecked answer of 2xx. Only a
   * GET is tried again, unless `repeatable` is true.
   *
   * @example
   * ```ts
   * const { status } = await client.request('DELETE', '/payments/na/webhooks/WH1', {
   *   credentials: 'administrator',
   * });
   * ```
   */
  readonly request: SendRequest;
}

/**
 * Creates a client of the service. Throws `ConfigurationError` for a wrong option.
 *
 * A call that is safe to repeat is tried up to 4 times, with growing pauses, if the connection fails, the
 * time runs out, or the answer is 429 or 5xx. Creations are never repeated, and `request` only as far as it
 * says. A `Retry-After` of up to 30 seconds is honoured. Answers are read up to `maxAnswerBytes`, and lists
 * up to `maxItems`.
 *
 * @example
 * ```ts
 * import { createClient } from 'posthorn/client';
 *
 * const client = createClient({
 *   baseUrl: 'https://api.example.com',
 *   banking: { token: () => currentJwt(), apiKey: process.env.API_KEY ?? '' },
 *   administrator: { username: 'admin', password: process.env.PASSWORD ?? '' },
 * });
 * ```
 */
export function createClient<E extends TypedEvent = KnownEvent>(options: ClientOptions<E>): Client<E>;
// The client itself takes events of any type: the signature above says which ones its caller can name.
export function createClient(options: ClientOptions<TypedEvent>): Client<TypedEvent> {
  const settings = readClientOptions(options);
  const { maxItems } = settings;
  const service = createService(settings);
  return {
    webhooks: createWebhooks(service, settings),
    fxQuotes: createFxQuotes(service),
    eChecks: createEChecks(service, maxItems),
    paymentPurposes: createPaymentPurposes(service, maxItems),
    currencies: createCurrencies(service, maxItems),
    request: createRequest(service),
  };
}
