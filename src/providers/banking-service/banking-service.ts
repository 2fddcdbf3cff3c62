import {
  checkOptions,
  invalidOption,
  readDuration,
  readInteger,
} from '../../receiver/checks/check-options.ts';
import { checkName } from '../../receiver/provider/define-provider.ts';
import { keyFunctionOf } from '../../receiver/provider/event-key.ts';
import type { Provider } from '../../receiver/provider/provider.ts';
import { isDelays } from '../../receiver/provider/retry-rules.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { type AddedEvent, type AddedTypes, withAddedTypes } from './added-types.ts';
import type { KnownEvent } from './event.ts';
import { createService, serviceParts } from './service.ts';
import { testingOf } from './testing.ts';

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
  readonly retries?: readonly number[] | undefined;
  /** The default of the receiver's `maxBodyBytes`; 1,048,576 by default. */
  readonly maxBodyBytes?: number | undefined;
}

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
  const { catalog, maxBodyBytes, name = serviceParts.name } = options;
  const { answerWithinMs = serviceParts.answerWithinMs, retries = serviceParts.retries } = options;
  const { signatureHeader = serviceParts.signatureHeader } = options;
  checkName(name);
  readDuration('answerWithinMs', answerWithinMs);
  if (!isDelays(retries))
    throw invalidOption(
      'retries',
      `must be a list of delays in milliseconds, each above 0; got ${show(retries)}`,
    );
  if (maxBodyBytes !== undefined) readInteger('maxBodyBytes', maxBodyBytes);
  const isOther = name !== serviceParts.name;
  return createService<KnownEvent | AddedEvent<C>>({
    ...serviceParts,
    ...(isOther && { name, storedName: name, keyOf: keyFunctionOf(name) }),
    ...(catalog !== undefined && { types: withAddedTypes(catalog) }),
    signatureHeader,
    answerWithinMs,
    retries,
    maxBodyBytes,
    testing: testingOf,
  });
}
