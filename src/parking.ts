import { createHash } from 'node:crypto';
import type { DeadLetter, DeadLetters } from './dead-letters/dead-letters.ts';
import { DeadLetterError, messageOf } from './errors.ts';
import type { HeaderValues } from './headers.ts';
import { withTimeLimit } from './time-limit.ts';

/** What is parked: an authentic body, and as much of its event as is known. */
export interface Parcel {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  readonly id?: string | undefined;
  readonly type?: string | undefined;
}

/** What has been tried with it. */
export interface Postmark {
  readonly attempts: number;
  /** Names of the handlers that have finished. */
  readonly handled: Iterable<string>;
  readonly runningUntil?: number | undefined;
}

/**
 * The dead letters, with a time limit on every operation, and with the operations on one id in the order of their calls:
 * a letter whose writing was given up as late cannot appear after its removal.
 */
export class Parking {
  readonly #deadLetters: DeadLetters;
  readonly #limitMs: number;
  readonly #now: () => number;
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(deadLetters: DeadLetters, limitMs: number, now: () => number) {
    this.#deadLetters = deadLetters;
    this.#limitMs = limitMs;
    this.#now = now;
  }

  find(id: string): Promise<DeadLetter | undefined> {
    return this.#inOrder(id, () => this.#deadLetters.get(id));
  }

  /** Stores a letter and returns its id: the event's, or the SHA-256 of the body where it has none. */
  async store(
    { rawBody, headers, receivedAt, type, ...parcel }: Parcel,
    { attempts, handled, runningUntil }: Postmark,
    reason: { readonly code: string; readonly message: string },
  ): Promise<string> {
    const id = parcel.id ?? createHash('sha256').update(rawBody).digest('hex');
    await this.#inOrder(id, async () => {
      // What an earlier letter knows of finished handlers may be known nowhere else any more.
      const earlier = await this.#deadLetters.get(id).catch(() => undefined);
      await this.#deadLetters.put({
        id,
        type,
        reason: reason.code,
        message: reason.message,
        rawBody,
        headers: withoutCredentials(headers),
        receivedAt,
        parkedAt: this.#now(),
        attempts: Math.max(attempts, earlier?.attempts ?? 0),
        handled: [...new Set([...(earlier?.handled ?? []), ...handled])],
        runningUntil,
      });
    });
    return id;
  }

  remove(id: string): Promise<boolean> {
    return this.#inOrder(id, () => this.#deadLetters.remove(id));
  }

  async #inOrder<T>(id: string, operation: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(id) ?? Promise.resolve();
    const current = previous.then(operation, operation);
    this.#last.set(id, current);
    const forget = (): void => {
      if (this.#last.get(id) === current) this.#last.delete(id);
    };
    current.then(forget, forget);
    try {
      return await withTimeLimit(current, this.#limitMs, () => new Error(`no answer in ${this.#limitMs} ms`));
    } catch (cause) {
      if (cause instanceof DeadLetterError) throw cause;
      throw new DeadLetterError('dead_letters_unavailable', `the dead letters failed: ${messageOf(cause)}`, {
        cause,
      });
    }
  }
}

const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);

function withoutCredentials(headers: HeaderValues): DeadLetter['headers'] {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, values = []]) =>
      CREDENTIAL_HEADERS.has(name) ? [] : [[name, values]],
    ),
  );
}
