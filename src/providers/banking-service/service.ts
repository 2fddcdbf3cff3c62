import { HmacScheme } from '../../receiver/authentication/hmac-scheme.ts';
import { invalidOption } from '../../receiver/checks/check-options.ts';
import type { TypeList } from '../../receiver/events/type-list.ts';
import { withChecked } from '../../receiver/provider/checked-provider.ts';
import { bareKeyFunctionOf, type EventKeyFunction } from '../../receiver/provider/event-key.ts';
import type { Provider, ProviderTesting } from '../../receiver/provider/provider.ts';
import { rulesOfDelays } from '../../receiver/provider/retry-rules.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { serviceTypes } from './catalog.ts';
import type { KnownEvent, WebhookEvent } from './event.ts';
import { readEvent } from './read-event.ts';

/** What differs between two senders with the interface of the service. */
export interface ServiceParts extends Pick<Provider, 'name' | 'answerWithinMs'> {
  readonly maxBodyBytes: number | undefined;
  readonly storedName: string | undefined;
  readonly keyOf: EventKeyFunction;
  readonly types: TypeList;
  readonly signatureHeader: string;
  readonly retries: readonly number[];
  /** Plays the service, which signs in this header. The default of a receiver has no part in tests. */
  readonly testing?: (signatureHeader: string) => ProviderTesting;
}

const NAME = 'banking-service';

/** The service itself (interface, "Limits" and "Events"). */
export const serviceParts: ServiceParts = {
  name: NAME,
  // Versions that knew no other provider stored no name, and used ids as keys.
  storedName: undefined,
  keyOf: bareKeyFunctionOf(NAME),
  types: serviceTypes,
  // The interface's neutral name; the real header contains the vendor's name.
  signatureHeader: 'x-service-signature',
  answerWithinMs: 30_000,
  retries: [60_000, 300_000, 900_000],
  maxBodyBytes: undefined,
};

/** Creates the provider of the service. Throws ConfigurationError for a wrong name of the header. */
export function createService<E extends WebhookEvent = KnownEvent>(parts: ServiceParts): Provider<E> {
  const { retries, signatureHeader, testing, types, ...others } = parts;
  const header = readHeaderName(signatureHeader);
  const signature = new HmacScheme({
    encoding: 'hex',
    read: (headers) => {
      const signature = headers.get(header);
      return { signatures: signature === undefined ? [] : [signature] };
    },
  });
  const { name, answerWithinMs, maxBodyBytes } = others;
  const provider: Provider<E> = {
    name,
    signature,
    types: types.types,
    readEvent,
    answerWithinMs,
    retries,
    cutsOff: true,
    maxBodyBytes,
    testing: testing?.(header),
  };
  return withChecked(provider, {
    ...others,
    types,
    retries: rulesOfDelays(retries),
    cutsOff: true,
    readEvent,
    handshake: undefined,
    withSignatureHeader: (other) => createService({ ...parts, signatureHeader: other }),
    createSignatureCheck: (signingKey) => signature.createCheck(signingKey, { canSetHeader: true }),
  });
}

/** RFC 9110, section 5.1: a field name is a token. */
function readHeaderName(name: unknown): string {
  if (typeof name === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(name)) return name.toLowerCase();
  throw invalidOption('signatureHeader', `must be the name of a header, got ${show(name)}`);
}
