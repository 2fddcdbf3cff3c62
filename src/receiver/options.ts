import {
  type Authentication,
  type CredentialsCheck,
  createCredentialsCheck,
} from './authentication/credentials.ts';
import { createKeySource, type KeySource, type SigningKeys } from './authentication/signing-keys.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import type { Store } from './dedupe/store.ts';
import { ConfigurationError } from './errors.ts';
import { catalog, type Entity } from './events/catalog.ts';
import type { Schemas, StandardSchemaV1 } from './events/schema.ts';
import type { Queue } from './queue/queue.ts';
import { createClock } from './timing/clock.ts';
import { checkOptions, invalidOption, readDuration, readInteger } from './values/check-options.ts';
import { show } from './values/foreign-values.ts';

/** Options of `createReceiver`. Durations are in milliseconds, sizes in bytes. */
export interface ReceiverOptions<S extends Schemas = Schemas> {
  /**
   * The webhook's `secret_signing_key`, a list of keys (any matching key is accepted, so keys rotate without
   * downtime), or a function that returns them. The function is called for each delivery, once at a time,
   * with a limit of 5 seconds: let it cache its result.
   *
   * The type includes `undefined`, so that `process.env.SIGNING_KEY` compiles, but the value throws. If a
   * build loads the module without a key, pass a function: `() => process.env.SIGNING_KEY`.
   */
  readonly signingKey: SigningKeys | undefined;
  /**
   * The name of the signature's header; `x-service-signature` by default. In production set the name that the
   * vendor uses.
   */
  readonly signatureHeader?: string;
  /** The credentials that the service sends, or a list of accepted credentials; `NONE` by default. */
  readonly authentication?: Authentication | readonly Authentication[];
  /**
   * The store in which event ids are claimed; a memory store by default, which serves one process. With
   * several processes each would handle an event once. If posthorn can detect that, or with a `queue`, the
   * first report warns `memory_store_shared`.
   */
  readonly store?: Store;
  /**
   * The place where events are parked. Without it, one event that always fails can get the endpoint cut off.
   */
  readonly deadLetters?: DeadLetters;
  /** Validators of `event.data` by entity. Handlers receive their typed output. */
  readonly schemas?: S & { readonly [Name in Exclude<keyof S, Entity>]: never };
  /**
   * The queue of the handlers that are registered with `queue: true`. Workers run them, and need this option
   * as well: create their receiver in the same way.
   */
  readonly queue?: Queue;
  /**
   * The most handlers that run at once in this process for deliveries; no limit by default. Further
   * deliveries wait for a permit, and are answered 503 `too_many_running` after 18.8 seconds by default. The
   * rest of `deadlineMs` is kept: a sixth for the handlers, and 2 seconds (a fourth, if that is less) for a
   * letter. A worker has its `concurrency` instead.
   */
  readonly maxRunning?: number;
  /**
   * The time from the adapter's call to the answer; 25,000 by default. It must be less than the service's
   * 30,000.
   */
  readonly deadlineMs?: number;
  /**
   * How long handlers may run before they are aborted and the id is released; 240,000 by default. If set, it
   * must be less than the second delay of `retryScheduleMs`.
   */
  readonly maxRunMs?: number;
  /** How long a claim is valid without renewal; 20,000 by default. It is renewed every third of that time. */
  readonly leaseMs?: number;
  /**
   * How long the store keeps a completed id; 86,400,000 (a day) by default. It must be at least the sum of
   * `retryScheduleMs`.
   */
  readonly retentionMs?: number;
  /** Older events are refused as replays; `retentionMs` by default. `Infinity` turns the check off. */
  readonly maxEventAgeMs?: number;
  /** The largest body that is accepted; 1,048,576 by default. */
  readonly maxBodyBytes?: number;
  /**
   * The memory for bodies that are not verified yet, and for bodies of events that wait for another process,
   * a permit or a connection; 67,108,864 by default, at least `maxBodyBytes`. When it is full, the unfinished
   * body with the least recent progress is answered 503.
   */
  readonly maxBufferedBytes?: number;
  /**
   * How long a body may take to arrive; 10,000 by default. It does not apply if a middleware before the
   * receiver reads the body, such as `express.raw()`.
   */
  readonly bodyTimeoutMs?: number;
  /** The delays after which the service retries; [60,000, 300,000, 900,000] by default. */
  readonly retryScheduleMs?: readonly number[];
  /**
   * The reaction if the store does not answer: `reject` (503, the default), or `process` (run the handlers
   * without a claim).
   */
  readonly onStoreFailure?: 'reject' | 'process';
  /**
   * The clock, in milliseconds since the epoch; `Date.now` by default. For tests and simulations. If it
   * throws, or does not return a number, `Date.now` is used, and a report warns once
   * (`return_value_invalid`).
   */
  readonly now?: () => number;
}

/** The checked options, with their defaults. */
export interface Settings {
  readonly keys: KeySource;
  readonly signatureHeader: string;
  readonly credentials: CredentialsCheck;
  readonly store: Store;
  readonly deadLetters: DeadLetters | undefined;
  readonly schemas: ReadonlyMap<string, StandardSchemaV1>;
  readonly queue: Queue | undefined;
  readonly maxRunning: number;
  readonly deadlineMs: number;
  readonly maxRunMs: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly maxEventAgeMs: number;
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
  readonly bodyTimeoutMs: number;
  readonly retryScheduleMs: readonly number[];
  readonly onStoreFailure: 'reject' | 'process';
  readonly now: () => number;
}

const optionNames = {
  signingKey: true,
  signatureHeader: true,
  authentication: true,
  store: true,
  deadLetters: true,
  schemas: true,
  queue: true,
  maxRunning: true,
  deadlineMs: true,
  maxRunMs: true,
  leaseMs: true,
  retentionMs: true,
  maxEventAgeMs: true,
  maxBodyBytes: true,
  maxBufferedBytes: true,
  bodyTimeoutMs: true,
  retryScheduleMs: true,
  onStoreFailure: true,
  now: true,
} as const satisfies Record<keyof ReceiverOptions, true>;

/** The service waits 30 seconds for an answer (interface, "Limits"). */
const SERVICE_TIMEOUT_MS = 30_000;

/**
 * Checks the options. Throws {@link ConfigurationError} that names the wrong one. `createStore` creates the
 * store if none is given. `onMisuse` is called if a function among the options later returns a wrong value.
 */
export function readOptions(
  options: ReceiverOptions,
  createStore: (options?: { readonly now: () => number }) => Store,
  onMisuse: (name: string, problem: string) => void = () => {},
): Settings {
  checkOptions(options, Object.keys(optionNames), 'createReceiver');
  const { signingKey, authentication = { type: 'NONE' }, deadLetters, queue } = options;
  const { deadlineMs = 25_000, leaseMs = 20_000, retentionMs = 86_400_000 } = options;
  const { bodyTimeoutMs = 10_000, maxBodyBytes = 1_048_576, maxBufferedBytes = 67_108_864 } = options;
  if (signingKey === undefined)
    throw invalidOption(
      'signingKey',
      "is undefined: it must be the webhook's secret_signing_key. If it comes from an environment variable, set " +
        'that one; in a module that is loaded at build time, pass a function: () => process.env.SIGNING_KEY',
    );
  const now = readNow(options.now, onMisuse);
  const retryScheduleMs = readSchedule(options.retryScheduleMs);
  // Without a clock from the user, the store uses one that never jumps.
  const { store = createStore(options.now && { now }) } = options;
  checkMethods('store', store, ['claim', 'renew', 'complete', 'release']);
  if (store.commandTimeoutMs !== undefined) readDuration('store.commandTimeoutMs', store.commandTimeoutMs);
  if (deadLetters !== undefined) {
    checkNotDirectory(deadLetters);
    checkMethods('deadLetters', deadLetters, ['put', 'get', 'remove', 'list']);
  }
  if (queue !== undefined) checkMethods('queue', queue, ['add', 'close']);
  return {
    keys: createKeySource(signingKey),
    signatureHeader: readHeaderName(options.signatureHeader),
    credentials: createCredentialsCheck(authentication),
    store,
    deadLetters,
    schemas: readSchemas(options.schemas),
    queue,
    maxRunning: readMaxRunning(options.maxRunning),
    deadlineMs: readDeadline(deadlineMs),
    maxRunMs: readMaxRun(options.maxRunMs, retryScheduleMs),
    leaseMs: readDuration('leaseMs', leaseMs),
    retentionMs: readRetention(retentionMs, retryScheduleMs),
    maxEventAgeMs: readMaxEventAge(options.maxEventAgeMs, retentionMs),
    maxBodyBytes: readInteger('maxBodyBytes', maxBodyBytes),
    maxBufferedBytes: readMaxBuffered(maxBufferedBytes, maxBodyBytes),
    bodyTimeoutMs: readDuration('bodyTimeoutMs', bodyTimeoutMs),
    retryScheduleMs,
    onStoreFailure: readStoreFailure(options.onStoreFailure),
    now,
  };
}

function readNow(now: unknown, onMisuse: (name: string, problem: string) => void): () => number {
  if (now === undefined) return Date.now;
  if (typeof now !== 'function') throw invalidOption('now', 'must be a function that returns milliseconds');
  return createClock(
    () => now(),
    (problem) => onMisuse('now', problem),
  );
}

function readMaxRunning(value: number | undefined): number {
  return value === undefined ? Number.POSITIVE_INFINITY : readInteger('maxRunning', value);
}

function readDeadline(deadlineMs: number): number {
  if (readDuration('deadlineMs', deadlineMs) < SERVICE_TIMEOUT_MS) return deadlineMs;
  throw invalidOption(
    'deadlineMs',
    `must be below ${SERVICE_TIMEOUT_MS}, when the service hangs up; got ${deadlineMs}`,
  );
}

/**
 * A given value is checked against the schedule: a hung run must have ended before the second retry comes.
 */
function readMaxRun(maxRunMs: number | undefined, [, secondRetryMs]: readonly number[]): number {
  if (maxRunMs === undefined) return 240_000;
  if (readDuration('maxRunMs', maxRunMs) < (secondRetryMs ?? Number.POSITIVE_INFINITY)) return maxRunMs;
  throw invalidOption(
    'maxRunMs',
    `must be below the second delay of retryScheduleMs (${secondRetryMs}), got ${maxRunMs}`,
  );
}

function readSchedule(value: unknown = [60_000, 300_000, 900_000]): readonly number[] {
  const isDelay = (delay: unknown) => typeof delay === 'number' && Number.isFinite(delay) && delay > 0;
  // `every` skips the holes of a sparse list; a copy does not have any.
  if (Array.isArray(value) && [...value].every(isDelay)) return [...value];
  throw invalidOption('retryScheduleMs', 'must be a list of delays in milliseconds, each above 0');
}

/** A body within `maxBodyBytes` that never fits into `maxBufferedBytes` would always get 503. */
function readMaxBuffered(maxBufferedBytes: number, maxBodyBytes: number): number {
  if (readInteger('maxBufferedBytes', maxBufferedBytes) >= maxBodyBytes) return maxBufferedBytes;
  throw invalidOption(
    'maxBufferedBytes',
    `must be at least maxBodyBytes (${maxBodyBytes}), got ${maxBufferedBytes}: ` +
      'raise it, or lower maxBodyBytes',
  );
}

function readRetention(retentionMs: number, retryScheduleMs: readonly number[]): number {
  const leastMs = retryScheduleMs.reduce((sum, delay) => sum + delay, 0);
  if (readInteger('retentionMs', retentionMs) >= leastMs) return retentionMs;
  throw invalidOption(
    'retentionMs',
    `must be at least the sum of retryScheduleMs (${leastMs}), got ${retentionMs}`,
  );
}

function readMaxEventAge(value: unknown, retentionMs: number): number {
  if (value === undefined) return retentionMs;
  const isLimit = typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER;
  if (isLimit || value === Number.POSITIVE_INFINITY) return value;
  throw invalidOption(
    'maxEventAgeMs',
    `must be a number above 0, or Infinity for no limit; got ${show(value)}`,
  );
}

function readHeaderName(value: unknown = 'x-service-signature'): string {
  // RFC 9110, section 5.1: a field name is a token.
  if (typeof value === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(value)) return value.toLowerCase();
  throw invalidOption('signatureHeader', `must be the name of a header, got ${show(value)}`);
}

function readStoreFailure(value: unknown = 'reject'): 'reject' | 'process' {
  if (value === 'reject' || value === 'process') return value;
  throw invalidOption('onStoreFailure', `must be "reject" or "process", got ${show(value)}`);
}

function readSchemas(value: Schemas = {}): ReadonlyMap<string, StandardSchemaV1> {
  if (typeof value !== 'object' || value === null)
    throw invalidOption('schemas', 'must be an object of schemas by entity');
  for (const [entity, schema] of Object.entries(value)) {
    if (!Object.hasOwn(catalog, entity)) {
      throw invalidOption(
        `schemas.${entity}`,
        `is not an entity; the entities are ${Object.keys(catalog).join(', ')}`,
      );
    }
    if (typeof schema?.['~standard']?.validate !== 'function') {
      throw invalidOption(`schemas.${entity}`, 'must be a Standard Schema, for example a zod object');
    }
  }
  return new Map(Object.entries(value));
}

function checkNotDirectory(deadLetters: unknown): void {
  if (typeof deadLetters !== 'string') return;
  const directory = show(deadLetters);
  throw invalidOption(
    'deadLetters',
    `is the text ${directory}: for a directory of letters set createFileDeadLetters(${directory}) of posthorn/file`,
  );
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  const members =
    typeof value === 'object' && value !== null
      ? new Map(methods.map((method) => [method, Reflect.get(value, method)]))
      : new Map();
  const missing = methods.find((method) => typeof members.get(method) !== 'function');
  if (missing !== undefined)
    throw invalidOption(name, `must be an object with ${methods.join(', ')}; ${missing} is missing`);
}
