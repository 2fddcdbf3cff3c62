import { createCustomCheck } from '../authentication/custom-signature.ts';
import type { SignatureCheck } from '../authentication/signature-check.ts';
import type { SigningKeys } from '../authentication/signing-keys.ts';
import { invalidOption } from '../checks/check-options.ts';
import { TypeList } from '../events/type-list.ts';
import { show } from '../values/foreign-values.ts';
import { defineProvider } from './define-provider.ts';
import { bareKey, type EventKeyFunction, hasBareKeys, keyFunctionOf } from './event-key.ts';
import type { Provider } from './provider.ts';

/** The provider of a receiver, with what the receiver derives from it. */
export interface CheckedProvider extends Pick<Provider, 'name' | 'handshake' | 'readEvent' | 'retries'> {
  readonly answerWithinMs: number;
  readonly maxBodyBytes: number | undefined;
  readonly types: TypeList;
  readonly cutsOff: boolean;
  readonly keyOf: EventKeyFunction;
  /**
   * The name in dead letters and jobs. Undefined for the provider whose ids are keys as they stand: versions
   * that knew no other wrote none.
   */
  readonly storedName: string | undefined;
  createSignatureCheck(signingKey: SigningKeys): SignatureCheck;
}

/** Checks a provider. Throws {@link ConfigurationError}, also for a header that the provider cannot take. */
export function checkProvider(given: Provider, signatureHeader: string | undefined): CheckedProvider {
  const provider = withHeader(defineProvider(given), signatureHeader);
  const { name, handshake, readEvent, retries, answerWithinMs, maxBodyBytes, signature } = provider;
  const isBare = hasBareKeys(provider);
  return {
    name,
    handshake,
    readEvent,
    retries,
    answerWithinMs,
    maxBodyBytes,
    types: new TypeList(provider.types),
    cutsOff: provider.cutsOff ?? false,
    keyOf: isBare ? bareKey : keyFunctionOf(name),
    storedName: isBare ? undefined : name,
    createSignatureCheck: (signingKey) =>
      'verify' in signature
        ? createCustomCheck(signature, signingKey)
        : signature.createCheck(signingKey, { canSetHeader: provider.withSignatureHeader !== undefined }),
  };
}

function withHeader(provider: Provider, signatureHeader: string | undefined): Provider {
  if (signatureHeader === undefined) return provider;
  if (provider.withSignatureHeader !== undefined) return provider.withSignatureHeader(signatureHeader);
  throw invalidOption(
    'signatureHeader',
    `cannot be set, because the provider ${show(provider.name)} names the header of its signature: leave it out`,
  );
}
