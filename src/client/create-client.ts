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
 * The service, apart from its deliveries. Every method takes `{ signal }` last, and rejects with a
 * {@link ServiceError} where the service fails, and with a `ConfigurationError` where the call is wrong
 * or the credentials it needs were not given.
 */
export interface Client {
  /** Creates, lists, updates and rotates webhooks; needs `administrator`. */
  readonly webhooks: Webhooks;
  /** Creates and retrieves FX quotes; needs `banking`. */
  readonly fxQuotes: FxQuotes;
  /** Looks up eChecks; needs `banking`. */
  readonly eChecks: EChecks;
  /** Lists the purposes of cross-border wires; needs `profile`. */
  readonly paymentPurposes: PaymentPurposes;
  /** Lists the supported currencies; needs `profile`. */
  readonly currencies: Currencies;
  /**
   * Sends a request of your own, for an operation that the interface does not show, with the credentials,
   * time limits, errors and redaction of the other methods. Resolves with an answer of 2xx, which is not
   * checked. Only a GET is tried again, unless `repeatable` says that it does no harm.
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
 * Every call that can be repeated without harm (all but creations and what `request` does not repeat) is
 * tried up to 4 times when the connection fails, the time is over, or the answer is 429 or 5xx, with growing
 * pauses; a `Retry-After` of up to 30 seconds is honoured. Answers are read up to `maxAnswerBytes`, and lists
 * up to `maxItems`.
 *
 * @example
 * ```ts
 * const client = createClient({
 *   baseUrl: 'https://api.example.com',
 *   banking: { token: () => currentJwt(), apiKey: process.env.API_KEY ?? '' },
 *   administrator: { username: 'admin', password: process.env.PASSWORD ?? '' },
 * });
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const settings = readClientOptions(options);
  const { maxItems } = settings;
  const service = createService(settings);
  return {
    webhooks: createWebhooks(service, maxItems),
    fxQuotes: createFxQuotes(service),
    eChecks: createEChecks(service, maxItems),
    paymentPurposes: createPaymentPurposes(service, maxItems),
    currencies: createCurrencies(service, maxItems),
    request: createRequest(service),
  };
}
