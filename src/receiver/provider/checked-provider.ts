import type { SignatureCheck } from '../authentication/signature-check.ts';
import type { SigningKeys } from '../authentication/signing-keys.ts';
import { invalidOption } from '../checks/check-options.ts';
import type { TypeRules } from '../events/type-rules.ts';
import { propertyOf, show } from '../values/foreign-values.ts';
import type { EventKeyFunction } from './event-key.ts';
import type { HandshakeReply } from './handshake-reply.ts';
import type { Provider, ProviderRequest, ReadEvent } from './provider.ts';
import type { RetryRules } from './retry-rules.ts';

/** A provider in the form in which the receiver uses it. Only what a sender needs is loaded with it. */
export interface CheckedProvider {
  readonly name: string;
  /**
   * The name in dead letters and jobs. Undefined for the provider whose ids are keys as they stand: versions
   * that knew no other wrote none.
   */
  readonly storedName: string | undefined;
  readonly keyOf: EventKeyFunction;
  readonly types: TypeRules;
  readonly retries: RetryRules;
  readonly answerWithinMs: number;
  readonly cutsOff: boolean;
  readonly maxBodyBytes: number | undefined;
  readonly readEvent: (request: ProviderRequest) => ReadEvent;
  readonly handshake: ((request: ProviderRequest) => HandshakeReply | undefined) | undefined;
  readonly createSignatureCheck: (signingKey: SigningKeys) => SignatureCheck;
}

/** A symbol that all copies of this package in a process share: the process may load two builds. */
const CHECKED = Symbol.for('posthorn.checkedProvider');

/** Freezes a provider, and keeps its checked form with it. A copy by `{ ...provider }` loses that form. */
export function withChecked<P extends object>(provider: P, checked: CheckedProvider): P {
  return Object.freeze(Object.defineProperty(provider, CHECKED, { value: checked }));
}

/** Returns the checked form of a provider. Throws ConfigurationError for a value without one. */
export function checkedFormOf(provider: Provider, signatureHeader: string | undefined): CheckedProvider {
  const checked = propertyOf(withHeader(provider, signatureHeader), CHECKED);
  if (isChecked(checked)) return checked;
  throw invalidOption(
    'provider',
    `must come from posthorn/providers or from defineProvider, got ${show(provider)}`,
  );
}

function isChecked(value: unknown): value is CheckedProvider {
  return value !== undefined;
}

function withHeader(provider: Provider, signatureHeader: string | undefined): Provider {
  if (signatureHeader === undefined) return provider;
  if (provider.withSignatureHeader !== undefined) return provider.withSignatureHeader(signatureHeader);
  throw invalidOption(
    'signatureHeader',
    `cannot be set, because the provider ${show(provider.name)} names the header of its signature`,
  );
}
