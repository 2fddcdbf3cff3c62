import type { AccountOption } from './authentication/account.ts';
import { type CredentialsCheck, createCredentialsCheck } from './authentication/credentials.ts';
import { rememberCheck } from './authentication/other-receivers.ts';
import type { SignatureCheck } from './authentication/signature-check.ts';
import { checkMethods, checkNotDirectory } from './checks/application-objects.ts';
import { checkFunction } from './checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from './checks/check-options.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import type { Store } from './dedupe/store.ts';
import type { StandardSchemaV1 } from './events/schema.ts';
import type { Journal } from './journal/journal.ts';
import type { AnyOptions } from './options.ts';
import { type CheckedProvider, checkedFormOf } from './provider/checked-provider.ts';
import type { Provider } from './provider/provider.ts';
import { isDelays, type RetryRules, rulesOfDelays } from './provider/retry-rules.ts';
import type { Queue } from './queue/queue.ts';
import { createClock } from './timing/clock.ts';
import { show } from './values/foreign-values.ts';

/** The input of each reader of an option. */
interface Given {
  readonly options: AnyOptions;
  readonly provider: CheckedProvider;
  readonly defaults: Defaults;
  /** Called if a function among the options later returns a wrong value. */
  readonly onMisuse: (name: string, problem: string) => void;
}

/** The parts of a receiver that are created without a room of this folder. */
interface Defaults {
  /** Creates the store if none is given. */
  readonly createStore: (options?: { readonly now: () => number }) => Store;
  readonly provider: Provider;
}

/** The longest run by default, if no retry comes before its end. */
const LONGEST_RUN_MS = 240_000;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MAX_BUFFERED_BYTES = 67_108_864;

/** The readers of all options: each has the default, and throws ConfigurationError for a wrong value. */
const readers = {
  signingKey({ options: { signingKey }, provider }: Given): SignatureCheck {
    if (signingKey !== undefined) return rememberCheck(provider.createSignatureCheck(signingKey));
    throw invalidOption(
      'signingKey',
      "is undefined: it must be the webhook's secret_signing_key. If it comes from an environment variable, set " +
        'that one; in a module that is loaded at build time, pass a function: () => process.env.SIGNING_KEY',
    );
  },

  account({ options: { account } }: Given): AccountOption | undefined {
    if (account !== undefined) checkFunction(account, 'account');
    return account;
  },

  name({ options: { name } }: Given): string | undefined {
    if (name === undefined || (typeof name === 'string' && name !== '' && name.length <= 200)) return name;
    throw invalidOption('name', `must be a text of 1 to 200 characters, got ${show(name)}`);
  },

  provider({ provider }: Given): CheckedProvider {
    return provider;
  },

  signatureHeader({ options: { signatureHeader } }: Given): string | undefined {
    return signatureHeader;
  },

  authentication({ options: { authentication = { type: 'NONE' } } }: Given): CredentialsCheck {
    return createCredentialsCheck(authentication);
  },

  store(given: Given): Store {
    const { options, defaults } = given;
    // Without a clock from the user, the store uses one that never jumps.
    const clock = options.now === undefined ? undefined : { now: readers.now(given) };
    const { store = defaults.createStore(clock) } = options;
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

  journal({ options: { journal } }: Given): Journal | undefined {
    if (journal !== undefined) checkMethods('journal', journal, ['record', 'get', 'list', 'prune']);
    return journal;
  },

  schemas({ options: { schemas = {} }, provider }: Given): ReadonlyMap<string, StandardSchemaV1> {
    if (typeof schemas !== 'object' || schemas === null)
      throw invalidOption('schemas', 'must be an object of schemas by entity');
    const checked = new Map<string, StandardSchemaV1>();
    for (const [entity, schema] of Object.entries(schemas))
      checked.set(entity, checkSchema(entity, schema, provider));
    return checked;
  },

  queue({ options: { queue } }: Given): Queue | undefined {
    if (queue !== undefined) checkMethods('queue', queue, ['add', 'close']);
    return queue;
  },

  maxRunning({ options: { maxRunning } }: Given): number {
    return maxRunning === undefined ? Number.POSITIVE_INFINITY : readInteger('maxRunning', maxRunning);
  },

  deadlineMs({ options, provider: { answerWithinMs } }: Given): number {
    const { deadlineMs = Math.floor((answerWithinMs * 5) / 6) } = options;
    if (options.deadlineMs === undefined || readDuration('deadlineMs', deadlineMs) < answerWithinMs)
      return deadlineMs;
    throw invalidOption(
      'deadlineMs',
      `must be below ${answerWithinMs}, when the service hangs up; got ${deadlineMs}`,
    );
  },

  /** A given value is checked against the schedule: a hung run must have ended before the second retry. */
  maxRunMs(given: Given): number {
    const { maxRunMs } = given.options;
    if (maxRunMs === undefined) return LONGEST_RUN_MS;
    const secondRetryMs = readers.retryScheduleMs(given).secondDelayMs;
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
    const leastMs = readers.retryScheduleMs(given).spanMs;
    const { retentionMs } = given.options;
    if (retentionMs === undefined) return Math.max(DAY_MS, leastMs + HOUR_MS);
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

  maxBodyBytes({ options, provider }: Given): number {
    const { maxBodyBytes = provider.maxBodyBytes ?? 1_048_576 } = options;
    return readInteger('maxBodyBytes', maxBodyBytes);
  },

  /** A body within `maxBodyBytes` that never fits into `maxBufferedBytes` would always get 503. */
  maxBufferedBytes(given: Given): number {
    const { maxBufferedBytes = Math.max(MAX_BUFFERED_BYTES, given.provider.maxBodyBytes ?? 0) } =
      given.options;
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

  retryScheduleMs({ options: { retryScheduleMs }, provider }: Given): RetryRules {
    if (retryScheduleMs === undefined) return provider.retries;
    if (isDelays(retryScheduleMs)) return rulesOfDelays(retryScheduleMs);
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

type CheckedOptions = {
  readonly [Name in keyof Required<AnyOptions>]: ReturnType<(typeof readers)[Name]>;
};

/** The checked options, with their defaults. */
export interface Settings extends Omit<CheckedOptions, 'signingKey' | 'signatureHeader' | 'retryScheduleMs'> {
  readonly signature: SignatureCheck;
  readonly retries: RetryRules;
  /** `maxRunMs` for deliveries: by default, a run has ended before the second retry comes. */
  readonly maxDeliveryRunMs: number;
  /** True if an event whose request has a signed time may be too old all the same. */
  readonly isAgeOfTimedLimited: boolean;
}

/** The names of the options of `createReceiver`. */
export const optionNames: readonly string[] = Object.keys(readers);

/** Checks the options. Throws {@link ConfigurationError} that names the wrong one. */
export function readOptions(
  options: AnyOptions,
  defaults: Defaults,
  onMisuse: Given['onMisuse'] = () => {},
): Settings {
  checkOptions(options, optionNames, 'createReceiver');
  const provider = checkedFormOf(options.provider ?? defaults.provider, options.signatureHeader);
  const given: Given = { options, provider, defaults, onMisuse };
  const entries = Object.entries(readers).map(([name, reader]) => [name, reader(given)]);
  const read: CheckedOptions = Object.fromEntries(entries);
  const { signingKey, signatureHeader, retryScheduleMs, ...settings } = read;
  const isRunLimited = options.maxRunMs !== undefined;
  return {
    ...settings,
    signature: signingKey,
    retries: retryScheduleMs,
    maxDeliveryRunMs: isRunLimited
      ? settings.maxRunMs
      : Math.min(settings.maxRunMs, 0.8 * retryScheduleMs.secondDelayMs),
    isAgeOfTimedLimited: options.maxEventAgeMs !== undefined,
  };
}

function checkSchema(
  entity: string,
  schema: StandardSchemaV1 | undefined,
  { types }: CheckedProvider,
): StandardSchemaV1 {
  types.checkEntity(entity);
  if (schema === undefined || typeof schema?.['~standard']?.validate !== 'function') {
    throw invalidOption(`schemas.${entity}`, 'must be a Standard Schema, for example a zod object');
  }
  checkFunction(schema['~standard'].validate, `validate of schemas.${entity}`);
  return schema;
}
