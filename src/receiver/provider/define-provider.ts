import { createCustomCheck } from '../authentication/custom-signature.ts';
import { checkFunction } from '../checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from '../checks/check-options.ts';
import { type ConfigurationError, EventError } from '../errors.ts';
import { isTimeMs } from '../events/age.ts';
import { AnyTypes } from '../events/any-types.ts';
import type { TypedEvent } from '../events/event-types.ts';
import { isPatternForm } from '../events/pattern.ts';
import { TypeList } from '../events/type-list.ts';
import { isInstance, messageOf, propertyOf, show, textOf } from '../values/foreign-values.ts';
import { type CheckedProvider, withChecked } from './checked-provider.ts';
import { keyFunctionOf } from './event-key.ts';
import { type HandshakeReply, toHandshakeReply } from './handshake-reply.ts';
import type { Provider, ProviderRequest, ReadEvent, Retries } from './provider.ts';
import { isReadFailure } from './read-failure.ts';
import { isDelay, isDelays, type RetryRules, rulesOfDelays } from './retry-rules.ts';

const MEMBERS = [
  'name',
  'signature',
  'types',
  'handshake',
  'readEvent',
  'answerWithinMs',
  'retries',
  'cutsOff',
  'maxBodyBytes',
  'withSignatureHeader',
  'testing',
];

/**
 * Checks a provider of your own, so that a mistake shows where it was made. Returns the provider as
 * `createReceiver` takes it: a frozen copy.
 *
 * @throws ConfigurationError that names the wrong member.
 *
 * @example
 * ```ts
 * import { defineProvider, hmacSignature } from 'posthorn';
 *
 * export const acme = defineProvider({
 *   name: 'acme',
 *   signature: hmacSignature({
 *     encoding: 'hex',
 *     read: (headers) => ({ signatures: [headers.get('acme-signature') ?? ''] }),
 *   }),
 *   readEvent: ({ rawBody }) => {
 *     const event = JSON.parse(Buffer.from(rawBody).toString());
 *     return { id: event.event_id, type: event.kind, createdAtMs: Date.parse(event.occurred_at), event };
 *   },
 *   answerWithinMs: 10_000,
 *   retries: [60_000, 3_600_000],
 * });
 * ```
 */
export function defineProvider<E extends TypedEvent>(provider: Provider<E>): Provider<E> {
  checkOptions(provider, MEMBERS, 'defineProvider');
  const { name, types, answerWithinMs, cutsOff = false, handshake, maxBodyBytes, readEvent } = provider;
  checkName(name);
  if (types !== undefined) checkTypes(types);
  if (handshake !== undefined) checkFunction(handshake, 'handshake of the provider');
  checkFunction(readEvent, 'readEvent of the provider');
  readDuration('answerWithinMs of the provider', answerWithinMs);
  if (maxBodyBytes !== undefined) readInteger('maxBodyBytes of the provider', maxBodyBytes);
  if (typeof cutsOff !== 'boolean') throw invalid('cutsOff', `must be true or false, got ${show(cutsOff)}`);
  return withChecked(
    { ...provider },
    {
      name,
      storedName: name,
      keyOf: keyFunctionOf(name),
      types: types === undefined ? new AnyTypes(name) : new TypeList(types),
      retries: rulesOfRetries(provider.retries),
      answerWithinMs,
      cutsOff,
      maxBodyBytes,
      readEvent: checkedReader(provider),
      handshake: handshake && ((request) => answerTo(request, handshake)),
      createSignatureCheck: checkCreatorOf(provider),
    },
  );
}

/** Checks the name of a provider. Throws {@link ConfigurationError}. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && /^[\w.-]{1,64}$/.test(name)) return;
  throw invalid('name', `must be 1 to 64 letters, digits, ".", "_" or "-", got ${show(name)}`);
}

function checkCreatorOf({
  signature,
  withSignatureHeader,
}: Provider): CheckedProvider['createSignatureCheck'] {
  if (typeof propertyOf(signature, 'createCheck') !== 'function')
    checkFunction(
      propertyOf(signature, 'verify'),
      'signature of the provider: hmacSignature(), or its verify',
    );
  const advice = { canSetHeader: withSignatureHeader !== undefined };
  return (signingKey) =>
    'verify' in signature
      ? createCustomCheck(signature, signingKey)
      : signature.createCheck(signingKey, advice);
}

/** Wraps `readEvent` of a provider: all that it throws says that the body is not an event. */
function checkedReader({ name, readEvent }: Provider): CheckedProvider['readEvent'] {
  return (request) => {
    try {
      return checkRead(readEvent(request));
    } catch (error) {
      if (isReadFailure(error) || isInstance(error, EventError)) throw error;
      const message = `the body is not an event of ${name}: ${messageOf(error)}`;
      throw new EventError('envelope_invalid', message, {}, { cause: error });
    }
  };
}

/** Checks what `readEvent` of a provider returned. */
function checkRead(read: ReadEvent): ReadEvent {
  const { id, type, createdAtMs, event } = read;
  if (textOf(id) === undefined) throw new TypeError(`its id must be a text, got ${show(id)}`);
  // Types are compared, and never a key, so a lone surrogate does no harm.
  if (typeof type !== 'string' || type === '')
    throw new TypeError(`its type must be a text, got ${show(type)}`);
  if (createdAtMs !== undefined && !isTimeMs(createdAtMs))
    throw new TypeError(`its time must be a number of milliseconds, got ${show(createdAtMs)}`);
  if (typeof event !== 'object' || event === null) throw new TypeError('it must be an object');
  return read;
}

function answerTo(
  request: ProviderRequest,
  handshake: NonNullable<Provider['handshake']>,
): HandshakeReply | undefined {
  let result: string | object | undefined;
  try {
    result = handshake(request);
  } catch (cause) {
    const message = `handshake of the provider failed: ${messageOf(cause)}`;
    throw new EventError('envelope_invalid', message, {}, { cause });
  }
  return result === undefined ? undefined : toHandshakeReply(result);
}

function checkTypes(types: unknown): void {
  const isList = Array.isArray(types) && types.length > 0;
  // A hole of a sparse list would be skipped; a copy has none.
  const wrong = isList ? [...types].find((type) => !isPatternForm(type) || !isTypeOfEntity(type)) : types;
  if (isList && wrong === undefined) return;
  throw invalid('types', `must be a list of texts such as "entity.type", at least one; got ${show(wrong)}`);
}

function isTypeOfEntity(type: string): boolean {
  return /^[^.]+(\.[^.]+)+$/.test(type);
}

/** No sender retries sooner, if its delays are not known. */
const LEAST_DELAY_MS = 60_000;
const UNKNOWN_DELAYS = { firstDelayMs: LEAST_DELAY_MS, secondDelayMs: Number.POSITIVE_INFINITY };

/** Returns the rules for the retries of a sender. Throws {@link ConfigurationError} for a wrong value. */
export function rulesOfRetries(retries: Retries): RetryRules {
  if (isDelays(retries)) return rulesOfDelays(retries);
  if (retries === 'none')
    return {
      ...UNKNOWN_DELAYS,
      storesLetterFirst: false,
      count: 0,
      spacingMs: 0,
      spanMs: 0,
      finalFromMs: Number.NEGATIVE_INFINITY,
    };
  const [forMs, least] = [propertyOf(retries, 'forMs'), propertyOf(retries, 'least')];
  if (isDelay(forMs) && typeof least === 'number' && Number.isInteger(least) && least > 0)
    return {
      ...UNKNOWN_DELAYS,
      storesLetterFirst: true,
      count: least,
      spacingMs: LEAST_DELAY_MS / 2,
      spanMs: forMs,
      finalFromMs: forMs / 2,
    };
  throw invalid(
    'retries',
    'must be a list of delays in milliseconds, each above 0; or { forMs, least }, with the time from the first ' +
      `attempt to the last one and the least number of retries; or "none"; got ${show(retries)}`,
  );
}

function invalid(member: string, problem: string): ConfigurationError {
  return invalidOption(`${member} of the provider`, problem);
}
