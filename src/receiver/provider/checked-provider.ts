import type { SignatureCheck } from '../authentication/signature-check.ts';
import type { SigningKeys } from '../authentication/signing-keys.ts';
import { invalidOption } from '../checks/check-options.ts';
import type { TypeRules } from '../events/type-rules.ts';
import { propertyOf, show } from '../values/foreign-values.ts';
import type { EventKeyFunction } from './event-key.ts';
import type { HandshakeReply } from './handshake-reply.ts';
import type { Provider, ProviderRequest, ReadEvent } from './provider.ts';
import type { RetryRules } from './retry-rules.ts';

/** A provider in the form that the receiver uses. It imports only the rules that this provider needs. */
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
  /** Returns the same provider with another signature header. Absent if the provider names its header. */
  readonly withSignatureHeader?: (name: string) => Provider;
}

/** A symbol that all copies of this package in a process share: the process may load two builds. */
const CHECKED = Symbol.for('posthorn.checkedProvider');

/** The names of the providers whose ids are keys as they stand. */
const bareNames = new Set<string>();

/** Returns true for the name of a provider whose ids are keys as they stand. */
export function hasBareKeys(name: string): boolean {
  return bareNames.has(name);
}

/** Freezes a provider, and keeps its checked form with it. A copy by `{ ...provider }` loses that form. */
export function withChecked<P extends object>(provider: P, checked: CheckedProvider): P {
  if (checked.storedName === undefined) bareNames.add(checked.name);
  return Object.freeze(Object.defineProperty(provider, CHECKED, { value: checked }));
}

/** Returns true for a provider that has its checked form. */
export function isCheckedProvider(provider: unknown): boolean {
  return propertyOf(provider, CHECKED) !== undefined;
}

/** Returns the checked form of a provider. Throws ConfigurationError for a value without one. */
export function checkedFormOf(provider: Provider, signatureHeader?: string): CheckedProvider {
  const checked = propertyOf(provider, CHECKED);
  if (!isForm(checked))
    throw invalidOption(
      'provider',
      `must come from posthorn/providers or from defineProvider, got ${show(provider)}`,
    );
  return signatureHeader === undefined
    ? checked
    : checkedFormOf(withHeader(provider, checked, signatureHeader));
}

function isForm(value: unknown): value is CheckedProvider {
  return value !== undefined;
}

/** Returns a provider with another signature header. Throws ConfigurationError if it names its header. */
export function withSignatureHeader(provider: Provider, header: string): Provider {
  return withHeader(provider, checkedFormOf(provider), header);
}

function withHeader(provider: Provider, checked: CheckedProvider, header: string): Provider {
  if (checked.withSignatureHeader !== undefined) return checked.withSignatureHeader(header);
  throw invalidOption(
    'signatureHeader',
    `cannot be set, because the provider ${show(provider.name)} names the header of its signature`,
  );
}
