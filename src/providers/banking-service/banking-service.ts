import { hmacSignature } from '../../receiver/authentication/hmac-signature.ts';
import { checkOptions, invalidOption } from '../../receiver/checks/check-options.ts';
import { defineProvider } from '../../receiver/provider/define-provider.ts';
import { withBareKeys } from '../../receiver/provider/event-key.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { type AddedTypes, joinCatalog, serviceTypes } from './catalog.ts';
import type { KnownEvent, WebhookEvent } from './event.ts';
import { readEvent } from './read-event.ts';
import { testingOf } from './testing.ts';

/** The name of the provider, which reports and metrics have. */
const NAME = 'banking-service';

/** The interface's neutral word for the header, whose real name has the vendor's part. */
export const NEUTRAL_HEADER = 'x-service-signature';

/** Options of {@link bankingService}. */
export interface BankingServiceOptions<C extends AddedTypes = Record<never, never>> {
  /** Types that the service has added, by entity: `{ payout: ['created'] }`. */
  readonly catalog?: C | undefined;
  /** The name of the signature's header; `x-service-signature` by default. */
  readonly signatureHeader?: string | undefined;
  /**
   * Another name, for a second sender with the same interface: its events have keys of their own.
   * `banking-service` by default.
   */
  readonly name?: string | undefined;
  /** The time that the service waits for an answer; 30,000 by default. */
  readonly answerWithinMs?: number | undefined;
  /** The delays before its retries; [60,000, 300,000, 900,000] by default. */
  readonly retries?: Provider['retries'] | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

/** An event of a type that was added to the catalog. */
type AddedEvent<C extends AddedTypes> = {
  [Entity in keyof C & string]: WebhookEvent<`${Entity}.${C[Entity][number]}`>;
}[keyof C & string];

/**
 * The payments and banking service: the provider of a receiver without the option `provider`. It signs the
 * body alone, waits 30 seconds, and after its third failed retry stops for good (interface, "Events").
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { bankingService } from 'posthorn/providers';
 *
 * const provider = bankingService({ catalog: { payout: ['created'] } });
 * const receiver = createReceiver({ provider, signingKey: process.env.SIGNING_KEY });
 * receiver.on('payout.created', (event) => console.log(event.data.id));
 * ```
 */
export function bankingService<const C extends AddedTypes = Record<never, never>>(
  options: BankingServiceOptions<C> = {},
): Provider<KnownEvent | AddedEvent<C>> {
  const names = ['catalog', 'signatureHeader', 'name', 'answerWithinMs', 'retries', 'maxBodyBytes'];
  checkOptions(options, names, 'bankingService');
  const { name = NAME, answerWithinMs = 30_000, retries = [60_000, 300_000, 900_000] } = options;
  const header = readHeaderName(options.signatureHeader ?? NEUTRAL_HEADER);
  const provider: Provider<KnownEvent | AddedEvent<C>> = {
    name,
    signature: hmacSignature({
      encoding: 'hex',
      read: (headers) => {
        const signature = headers.get(header);
        return { signatures: signature === undefined ? [] : [signature] };
      },
    }),
    types: options.catalog === undefined ? serviceTypes.types : joinCatalog(options.catalog),
    readEvent,
    answerWithinMs,
    retries,
    cutsOff: true,
    maxBodyBytes: options.maxBodyBytes,
    withSignatureHeader: (signatureHeader) => bankingService({ ...options, signatureHeader }),
    testing: testingOf(header),
  };
  return defineProvider(name === NAME ? withBareKeys(provider) : provider);
}

/** RFC 9110, section 5.1: a field name is a token. */
function readHeaderName(name: unknown): string {
  if (typeof name === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(name)) return name.toLowerCase();
  throw invalidOption('signatureHeader', `must be the name of a header, got ${show(name)}`);
}
