import { type CredentialsCheck, createCredentialsCheck } from './authentication/credentials.ts';
import { createKeySource, type KeySource } from './authentication/signing-keys.ts';
import { checkFunction } from './checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from './checks/check-options.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import type { Store } from './dedupe/store.ts';
import { catalog } from './events/catalog.ts';
import type { StandardSchemaV1 } from './events/schema.ts';
import type { ReceiverOptions } from './options.ts';
import type { Queue } from './queue/queue.ts';
import { createClock } from './timing/clock.ts';
import { propertyOf, show } from './values/foreign-values.ts';

/** The input of each reader of an option. */
interface Given {
  readonly options: ReceiverOptions;
  /** Creates the store if none is given. */
  readonly createStore: (options?: { readonly now: () => number }) => Store;
  /** Called if a function among the options later returns a wrong value. */
  readonly onMisuse: (name: string, problem: string) => void;
}

/** The service waits 30 seconds for an answer (interface, "Limits"). */
const SERVICE_TIMEOUT_MS = 30_000;

/** The readers of all options: each has the default, and throws ConfigurationError for a wrong value. */
const readers = {
  signingKey({ options: { signingKey } }: Given): KeySource {
    if (signingKey !== undefined) return createKeySource(signingKey);
    throw invalidOption(
      'signingKey',
      "is undefined: it must be the webhook's secret_signing_key. If it comes from an environment variable, set " +
        'that one; in a module that is loaded at build time, pass a function: () => process.env.SIGNING_KEY',
    );
  },

  name({ options: { name } }: Given): string | undefined {
    if (name === undefined || (typeof name === 'string' && name !== '' && name.length <= 200)) return name;
    throw invalidOption('name', `must be a text of 1 to 200 characters, got ${show(name)}`);
  },

  signatureHeader({ options: { signatureHeader = 'x-service-signature' } }: Given): string {
    // RFC 9110, section 5.1: a field name is a token.
    const isToken =
      typeof signatureHeader === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(signatureHeader);
    if (isToken) return signatureHeader.toLowerCase();
    throw invalidOption('signatureHeader', `must be the name of a header, got ${show(signatureHeader)}`);
  },

  authentication({ options: { authentication = { type: 'NONE' } } }: Given): CredentialsCheck {
    return createCredentialsCheck(authentication);
  },

  store(given: Given): Store {
    const { options, createStore } = given;
    // Without a clock from the user, the store uses one that never jumps.
    const clock = options.now === undefined ? undefined : { now: readers.now(given) };
    const { store = createStore(clock) } = options;
    checkMethods('store', store, ['claim', 'renew', 'complete', 'release']);
    if (store.commandTimeoutMs !== undefined) readDuration('store.commandTimeoutMs', store.commandTimeoutMs);
    return store;
  },

  deadLetters({ options: { deadLetters } }: Given): DeadLetters | undefined {
    if (deadLetters === undefined) return undefined;
    checkNotDirectory(deadLetters);
    checkMethods('deadLetters', deadLetters, ['put', 'get', 'remove', 'list']);
    return deadLetters;
  },

  schemas({ options: { schemas = {} } }: Given): ReadonlyMap<string, StandardSchemaV1> {
    if (typeof schemas !== 'object' || schemas === null)
      throw invalidOption('schemas', 'must be an object of schemas by entity');
    for (const [entity, schema] of Object.entries(schemas)) checkSchema(entity, schema);
    return new Map(Object.entries(schemas));
  },

  queue({ options: { queue } }: Given): Queue | undefined {
    if (queue !== undefined) checkMethods('queue', queue, ['add', 'close']);
    return queue;
  },

  maxRunning({ options: { maxRunning } }: Given): number {
    return maxRunning === undefined ? Number.POSITIVE_INFINITY : readInteger('maxRunning', maxRunning);
  },

  deadlineMs({ options: { deadlineMs = 25_000 } }: Given): number {
    if (readDuration('deadlineMs', deadlineMs) < SERVICE_TIMEOUT_MS) return deadlineMs;
    throw invalidOption(
      'deadlineMs',
      `must be below ${SERVICE_TIMEOUT_MS}, when the service hangs up; got ${deadlineMs}`,
    );
  },

  /** A given value is checked against the schedule: a hung run must have ended before the second retry. */
  maxRunMs(given: Given): number {
    const { maxRunMs } = given.options;
    if (maxRunMs === undefined) return 240_000;
    const [, secondRetryMs = Number.POSITIVE_INFINITY] = readers.retryScheduleMs(given);
    if (readDuration('maxRunMs', maxRunMs) < secondRetryMs) return maxRunMs;
    throw invalidOption(
      'maxRunMs',
      `must be below the second delay of retryScheduleMs (${secondRetryMs}), got ${maxRunMs}`,
    );
  },

  leaseMs({ options: { leaseMs = 20_000 } }: Given): number {
    return readDuration('leaseMs', leaseMs);
  },

  retentionMs(given: Given): number {
    const { retentionMs = 86_400_000 } = given.options;
    const leastMs = readers.retryScheduleMs(given).reduce((sum, delay) => sum + delay, 0);
    if (readInteger('retentionMs', retentionMs) >= leastMs) return retentionMs;
    throw invalidOption(
      'retentionMs',
      `must be at least the sum of retryScheduleMs (${leastMs}), got ${retentionMs}`,
    );
  },

  maxEventAgeMs(given: Given): number {
    const { maxEventAgeMs } = given.options;
    if (maxEventAgeMs === undefined) return readers.retentionMs(given);
    const isLimit =
      typeof maxEventAgeMs === 'number' && maxEventAgeMs > 0 && maxEventAgeMs <= Number.MAX_SAFE_INTEGER;
    if (isLimit || maxEventAgeMs === Number.POSITIVE_INFINITY) return maxEventAgeMs;
    throw invalidOption(
      'maxEventAgeMs',
      `must be a number above 0, or Infinity for no limit; got ${show(maxEventAgeMs)}`,
    );
  },

  maxBodyBytes({ options: { maxBodyBytes = 1_048_576 } }: Given): number {
    return readInteger('maxBodyBytes', maxBodyBytes);
  },

  /** A body within `maxBodyBytes` that never fits into `maxBufferedBytes` would always get 503. */
  maxBufferedBytes(given: Given): number {
    const { maxBufferedBytes = 67_108_864 } = given.options;
    const maxBodyBytes = readers.maxBodyBytes(given);
    if (readInteger('maxBufferedBytes', maxBufferedBytes) >= maxBodyBytes) return maxBufferedBytes;
    throw invalidOption(
      'maxBufferedBytes',
      `must be at least maxBodyBytes (${maxBodyBytes}), got ${maxBufferedBytes}: ` +
        'raise it, or lower maxBodyBytes',
    );
  },

  bodyTimeoutMs({ options: { bodyTimeoutMs = 10_000 } }: Given): number {
    return readDuration('bodyTimeoutMs', bodyTimeoutMs);
  },

  retryScheduleMs({ options }: Given): readonly number[] {
    const { retryScheduleMs = [60_000, 300_000, 900_000] } = options;
    const isDelay = (delay: unknown) => typeof delay === 'number' && Number.isFinite(delay) && delay > 0;
    // `every` skips the holes of a sparse list; a copy does not have any.
    if (Array.isArray(retryScheduleMs) && [...retryScheduleMs].every(isDelay)) return [...retryScheduleMs];
    throw invalidOption('retryScheduleMs', 'must be a list of delays in milliseconds, each above 0');
  },

  onStoreFailure({ options: { onStoreFailure = 'reject' } }: Given): 'reject' | 'process' {
    if (onStoreFailure === 'reject' || onStoreFailure === 'process') return onStoreFailure;
    throw invalidOption('onStoreFailure', `must be "reject" or "process", got ${show(onStoreFailure)}`);
  },

  now({ options: { now }, onMisuse }: Given): () => number {
    if (now === undefined) return Date.now;
    if (typeof now !== 'function') throw invalidOption('now', 'must be a function that returns milliseconds');
    return createClock(now, (problem) => onMisuse('now', problem));
  },
};

/** The checked options, with their defaults. */
export type Settings = {
  readonly [Name in keyof Required<ReceiverOptions>]: ReturnType<(typeof readers)[Name]>;
};

/** The names of the options of `createReceiver`. */
export const optionNames: readonly string[] = Object.keys(readers);

/** Checks the options. Throws {@link ConfigurationError} that names the wrong one. */
export function readOptions(
  options: ReceiverOptions,
  createStore: Given['createStore'],
  onMisuse: Given['onMisuse'] = () => {},
): Settings {
  checkOptions(options, optionNames, 'createReceiver');
  const given = { options, createStore, onMisuse };
  const settings = Object.entries(readers).map(([name, read]) => [name, read(given)]);
  return Object.fromEntries(settings);
}

function checkSchema(entity: string, schema: StandardSchemaV1 | undefined): void {
  if (!Object.hasOwn(catalog, entity)) {
    throw invalidOption(
      `schemas.${entity}`,
      `is not an entity; the entities are ${Object.keys(catalog).join(', ')}`,
    );
  }
  if (typeof schema?.['~standard']?.validate !== 'function') {
    throw invalidOption(`schemas.${entity}`, 'must be a Standard Schema, for example a zod object');
  }
  checkFunction(schema['~standard'].validate, `validate of schemas.${entity}`);
}

function checkNotDirectory(deadLetters: unknown): void {
  if (typeof deadLetters !== 'string') return;
  const directory = show(deadLetters);
  throw invalidOption(
    'deadLetters',
    `is the text ${directory}: for a directory of dead letters set createFileDeadLetters(${directory}) of posthorn/file`,
  );
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  const isMissing = (method: string) => typeof propertyOf(value, method) !== 'function';
  const missing = methods.find((method) => typeof value !== 'object' || isMissing(method));
  if (missing !== undefined)
    throw invalidOption(name, `must be an object with ${methods.join(', ')}; ${missing} is missing`);
  // `list` may be a generator function, because its result is iterated.
  for (const method of methods.filter((each) => each !== 'list'))
    checkFunction(propertyOf(value, method), `${method} of ${name}`);
}
