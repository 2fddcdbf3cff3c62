import { checkFunction } from '../checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from '../checks/check-options.ts';
import type { TypedEvent } from '../events/event-types.ts';
import { isPatternForm } from '../events/pattern.ts';
import { propertyOf, show } from '../values/foreign-values.ts';
import { hasBareKeys, withBareKeys } from './event-key.ts';
import type { Provider, Retries } from './provider.ts';

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
 * Checks a provider of your own, so that a mistake shows where it was made. Returns a frozen copy.
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
  // The copy is checked, because it lacks the methods of a class.
  const copy = { ...provider };
  const { name, signature, types, handshake, readEvent, answerWithinMs, maxBodyBytes, retries } = copy;
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name))
    throw invalid('name', `must be 1 to 64 letters, digits, ".", "_" or "-", got ${show(name)}`);
  if (typeof propertyOf(signature, 'createCheck') !== 'function')
    checkFunction(
      propertyOf(signature, 'verify'),
      'signature of the provider: hmacSignature(), or its verify',
    );
  if (types !== undefined) checkTypes(types);
  if (handshake !== undefined) checkFunction(handshake, 'handshake of the provider');
  checkFunction(readEvent, 'readEvent of the provider');
  readDuration('answerWithinMs of the provider', answerWithinMs);
  checkRetries(retries);
  if (maxBodyBytes !== undefined) readInteger('maxBodyBytes of the provider', maxBodyBytes);
  checkRest(copy);
  return Object.freeze(hasBareKeys(provider) ? withBareKeys(copy) : copy);
}

function checkRest({ cutsOff, testing, withSignatureHeader }: Provider): void {
  if (cutsOff !== undefined && typeof cutsOff !== 'boolean')
    throw invalid('cutsOff', `must be true or false, got ${show(cutsOff)}`);
  if (withSignatureHeader !== undefined)
    checkFunction(withSignatureHeader, 'withSignatureHeader of the provider');
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

/** Checks the retries of a provider. Throws {@link ConfigurationError}. */
export function checkRetries(retries: Retries): void {
  if (retries === 'none' || isDelays(retries)) return;
  const [forMs, least] = [propertyOf(retries, 'forMs'), propertyOf(retries, 'least')];
  if (isDelay(forMs) && typeof least === 'number' && Number.isInteger(least) && least > 0) return;
  throw invalid(
    'retries',
    'must be a list of delays in milliseconds, each above 0; or { forMs, least }, with the time from the first ' +
      `attempt to the last one and the least number of retries; or "none"; got ${show(retries)}`,
  );
}

/** Returns true for a list of delays in milliseconds, each above 0. */
export function isDelays(value: unknown): value is readonly number[] {
  // `every` skips the holes of a sparse list; a copy does not have any.
  return Array.isArray(value) && [...value].every(isDelay);
}

function isDelay(delay: unknown): delay is number {
  return typeof delay === 'number' && Number.isFinite(delay) && delay > 0;
}

function invalid(member: string, problem: string): Error {
  return invalidOption(`${member} of the provider`, problem);
}
