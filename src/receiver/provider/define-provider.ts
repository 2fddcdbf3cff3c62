import { createCustomCheck } from '../authentication/custom-signature.ts';
import { checkFunction } from '../checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from '../checks/check-options.ts';
import type { ConfigurationError } from '../errors.ts';
import { AnyTypes } from '../events/any-types.ts';
import type { TypedEvent } from '../events/event-types.ts';
import { isPatternForm } from '../events/pattern.ts';
import { TypeList } from '../events/type-list.ts';
import { propertyOf, show } from '../values/foreign-values.ts';
import { checkedHandshake, checkedReader } from './checked-functions.ts';
import { type CheckedProvider, hasBareKeys, isCheckedProvider, withChecked } from './checked-provider.ts';
import { keyFunctionOf } from './event-key.ts';
import type { Provider } from './provider.ts';
import { readRetries } from './read-retries.ts';

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
  'testing',
];

/**
 * Checks a provider of your own, so that a mistake shows where it was made. Returns the provider as
 * `createReceiver` takes it: a frozen copy. One that has been checked already is returned as it is.
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
  if (isCheckedProvider(provider)) return provider;
  checkOptions(provider, MEMBERS, 'defineProvider');
  // The copy is checked, because it lacks the methods of a class.
  const copy = { ...provider };
  const { name, types, answerWithinMs, cutsOff = false, handshake, maxBodyBytes, readEvent } = copy;
  checkName(name);
  checkNotBare(name);
  const createSignatureCheck = checkCreatorOf(copy);
  if (types !== undefined) checkTypes(types);
  if (handshake !== undefined) checkFunction(handshake, 'handshake of the provider');
  checkFunction(readEvent, 'readEvent of the provider');
  readDuration('answerWithinMs of the provider', answerWithinMs);
  if (maxBodyBytes !== undefined) readInteger('maxBodyBytes of the provider', maxBodyBytes);
  checkRest(copy);
  return withChecked(copy, {
    name,
    storedName: name,
    keyOf: keyFunctionOf(name),
    types: types === undefined ? new AnyTypes(name) : new TypeList(types),
    retries: readRetries(copy.retries),
    answerWithinMs,
    cutsOff,
    maxBodyBytes,
    readEvent: checkedReader(copy),
    handshake: handshake && checkedHandshake(handshake),
    createSignatureCheck,
  });
}

/** Checks the name of a provider. Throws {@link ConfigurationError}. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && /^[\w.-]{1,64}$/.test(name)) return;
  throw invalid('name', `must be 1 to 64 letters, digits, ".", "_" or "-", got ${show(name)}`);
}

/** A copy of the default provider under its name would not know the events that this one has handled. */
function checkNotBare(name: string): void {
  if (hasBareKeys(name))
    throw invalid(
      'name',
      `must not be ${show(name)}, whose events have keys of another form: give another name`,
    );
}

function checkCreatorOf({ name, signature }: Provider): CheckedProvider['createSignatureCheck'] {
  if (typeof propertyOf(signature, 'createCheck') !== 'function')
    checkFunction(
      propertyOf(signature, 'verify'),
      'signature of the provider: hmacSignature(), or its verify',
    );
  return (signingKey) =>
    'verify' in signature
      ? createCustomCheck(signature, signingKey)
      : signature.createCheck(signingKey, { canSetHeader: false, provider: name });
}

function checkRest({ cutsOff, testing }: Provider): void {
  if (cutsOff !== undefined && typeof cutsOff !== 'boolean')
    throw invalid('cutsOff', `must be true or false, got ${show(cutsOff)}`);
  if (testing === undefined) return;
  for (const member of ['createEvent', 'sign'])
    checkFunction(propertyOf(testing, member), `testing.${member} of the provider`);
}

function checkTypes(types: unknown): void {
  // `every` skips the holes of a sparse list; a copy does not have any.
  const list: readonly unknown[] = Array.isArray(types) ? [...types] : [];
  if (list.length > 0 && list.every(isTypeOfEntity)) return;
  const wrong = list.length > 0 ? list.find((type) => !isTypeOfEntity(type)) : types;
  throw invalid('types', `must be a list of texts such as "entity.type", at least one; got ${show(wrong)}`);
}

function isTypeOfEntity(type: unknown): boolean {
  return isPatternForm(type) && /^[^.*]+(\.[^.*]+)+$/.test(type);
}

function invalid(member: string, problem: string): ConfigurationError {
  return invalidOption(`${member} of the provider`, problem);
}
