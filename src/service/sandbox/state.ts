import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { isError, messageOf } from '../../receiver/values/foreign-values.ts';
import { type FxQuoteBody, fxQuote } from '../shapes/fx-quotes.ts';
import { authentication, eventFilters, type Webhook } from '../shapes/webhooks.ts';
import type { DeliveryAttempt } from './attempt.ts';
import { Clock, type ClockReading } from './clock.ts';

/** A webhook with its key, which is shown once. */
export type StoredWebhook = Omit<Webhook, '_links' | 'secret_signing_key'> & {
  readonly secret_signing_key: string;
};

/** A quote with the exact moment of its expiry, which its text cuts to a second. */
export interface StoredQuote {
  readonly quote: FxQuoteBody;
  readonly expiresAt: number;
}

/** A delivery that is due, under way, or still to come. */
export interface PendingDelivery {
  readonly event: WebhookEvent;
  readonly webhook: string;
  readonly number: number;
  readonly duplicate: boolean;
  /** True if its body is changed after it was signed. */
  readonly changed?: boolean | undefined;
  /** The time at which it falls due, by the sandbox's clock. */
  readonly dueAt: number;
  /**
   * If the event ages: how far the clock was ahead of the real time when it happened. It grows older by
   * what the clock gets ahead since then.
   */
  readonly aheadMs?: number | undefined;
}

/** The time at which the next of some deliveries falls due; undefined if there is none. */
export function earliestDueAt(deliveries: readonly PendingDelivery[]): number | undefined {
  const earliest = deliveries.reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity);
  return earliest === Infinity ? undefined : earliest;
}

interface StoredState {
  readonly webhooks: StoredWebhook[];
  readonly quotes: StoredQuote[];
  readonly pending: PendingDelivery[];
  readonly attempts: DeliveryAttempt[];
}

/** The whole state of the sandbox. Code that changes it must call `save`. */
export interface State extends StoredState {
  readonly clock: Clock;
  /**
   * Announces the change, and writes the file, if there is one; throws {@link ConfigurationError} if that
   * fails.
   */
  save(): void;
  /** Registers a function that is called after each change; it must not throw. */
  onChange(listener: () => void): void;
}

/** A check of our own, because a record of zod keeps an issue for each wrong field. */
const headerFields: z.ZodType<Readonly<Record<string, string>>> = z.custom<Readonly<Record<string, string>>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((field) => typeof field === 'string'),
  'must be an object of texts',
);

/** The schema of {@link DeliveryAttempt}. */
export const deliveryAttempt: z.ZodType<DeliveryAttempt> = z.object({
  event: z.string(),
  webhook: z.string(),
  number: z.int(),
  duplicate: z.boolean(),
  changed: z.boolean().optional(),
  agedMs: z.int().optional(),
  olderThan: z.string().optional(),
  at: z.string(),
  request: z.object({ url: z.string(), headers: headerFields, body: z.string() }),
  status: z.int().optional(),
  error: z.string().optional(),
  response: z.object({ headers: headerFields, body: z.string() }).optional(),
  durationMs: z.number(),
});

interface StateFile extends StoredState {
  readonly version: 1;
  readonly clock: ClockReading;
}

/** The schema of an event of the sandbox. */
export const storedEvent: z.ZodType<WebhookEvent> = z.object({
  type: z.string(),
  id: z.string(),
  created_at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});

const file: z.ZodType<StateFile> = z.object({
  version: z.literal(1),
  clock: z.object({ time: z.int(), realTime: z.int() }),
  webhooks: z.array(
    z.object({
      id: z.string(),
      created_at: z.iso.datetime(),
      updated_at: z.iso.datetime(),
      url: z.url(),
      enabled: z.boolean(),
      authentication,
      enabled_events: eventFilters,
      secret_signing_key: z.string().min(1),
    }),
  ),
  quotes: z.array(z.object({ quote: fxQuote, expiresAt: z.int() })),
  pending: z.array(
    z.object({
      event: storedEvent,
      webhook: z.string(),
      number: z.int(),
      duplicate: z.boolean(),
      changed: z.boolean().optional(),
      dueAt: z.int(),
      aheadMs: z.int().optional(),
    }),
  ),
  attempts: z.array(deliveryAttempt),
});

/**
 * Reads the state from its file, or begins with an empty one; throws {@link ConfigurationError} for a bad
 * file.
 */
export function openState(
  path: string | undefined,
  speed: number,
  startAt: number,
  agesEvents = false,
): State {
  const found = path === undefined ? undefined : readState(resolve(path));
  const {
    version,
    clock: start,
    ...kept
  } = found ?? {
    version: 1,
    clock: { time: startAt, realTime: Date.now() },
    webhooks: [],
    quotes: [],
    pending: [],
    attempts: [],
  };
  const clock = new Clock(speed, start, agesEvents);
  const listeners: (() => void)[] = [];
  const save = (): void => {
    for (const listener of listeners) listener();
    if (path === undefined) return;
    writeState(resolve(path), JSON.stringify({ version, clock: clock.reading(), ...kept }, undefined, 1));
  };
  // Saved at once, so that an unwritable file is found before anything depends on it.
  save();
  return { ...kept, clock, save, onChange: (listener) => void listeners.push(listener) };
}

function readState(path: string): StateFile | undefined {
  try {
    return file.parse(JSON.parse(readText(path)));
  } catch (cause) {
    const isOfSystem = isError(cause) && 'code' in cause;
    if (isOfSystem && cause.code === 'ENOENT') return undefined;
    // The message of a parser quotes the file, which holds secrets.
    const isLink = isOfSystem && cause.code === 'ELOOP';
    const message = isLink ? 'it is a symbolic link, which is not followed' : messageOf(cause);
    const reason = isOfSystem ? ` (${message})` : '';
    throw new ConfigurationError(
      `the state file ${path} cannot be read as the state of a sandbox${reason}: mend it, or move it ` +
        'away to start again',
      { cause },
    );
  }
}

/**
 * Does not follow a symbolic link: in a directory that others may write to, it could lead to a file of
 * theirs. Windows has no flag for that, so a link is looked for first.
 */
function readText(path: string): string {
  if (process.platform === 'win32' && lstatSync(path).isSymbolicLink())
    throw Object.assign(new Error(`ELOOP: ${path}`), { code: 'ELOOP' });
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes the file so that a crash leaves the old or the new one, never a part. An attacker cannot guess the
 * name of the temporary file to put a link there, and `wx` would not follow it. Renaming replaces a link
 * rather than following it.
 */
function writeState(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new ConfigurationError(
      `the state cannot be written to ${path}: it must be a file in a directory that this process may ` +
        `write to (${messageOf(cause)})`,
      { cause },
    );
  }
}
