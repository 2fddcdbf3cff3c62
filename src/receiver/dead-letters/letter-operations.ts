import { checkBegun } from '../checks/called-functions.ts';
import { DeadLetterError } from '../errors.ts';
import type { CheckedProvider } from '../provider/checked-provider.ts';
import { type EventMembers, idOfBody, keyOfMembers, senderOf } from '../provider/event-identity.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import { type HeaderValues, withoutCredentials } from '../request/headers.ts';
import { mustWait } from '../timing/must-wait.ts';
import { performance } from '../timing/process-clock.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { isInstance, messageOf, show } from '../values/foreign-values.ts';
import type { DeadLetter, DeadLetters } from './dead-letters.ts';
import { OperationQueue, type OperationWait } from './operation-queue.ts';

/** The content of a dead letter: an authentic body, and the known facts about its event. */
export interface LetterContent {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  readonly event: EventMembers;
  /** When its event was first parked, if that is known. */
  readonly parkedAt?: number | undefined;
}

/** The attempts to handle the event so far. */
export interface AttemptInfo {
  readonly attempts: number;
  /** Names of the handlers that have succeeded. */
  readonly handled: Iterable<string>;
  readonly runningUntil?: number | undefined;
}

/** The reason why an event is parked. */
export interface LetterReason {
  readonly code: string;
  readonly message: string;
}

/** An operation on one id that has not ended. */
interface PendingOperation {
  /** Resolves when the operation has ended, or can no longer begin. */
  readonly ended: Promise<void>;
  readonly isUrgent: boolean;
  /** True if it had begun when its caller gave up. */
  isLate: boolean;
}

/** The settings of {@link LetterOperations}. */
interface LetterOperationsSettings {
  /** The longest time that one operation may take once it has begun. */
  readonly limitMs: number;
  readonly now: () => number;
  readonly provider: Pick<CheckedProvider, 'keyOf' | 'storedName'>;
  /** True if operations may wait for a connection; false if handlers can run without the store. */
  readonly mayWait: boolean;
  /** Counts the bodies that are kept while operations wait for a connection. */
  readonly bodyMemory: Pick<BodyMemory, 'reserve' | 'giveBack'>;
}

/**
 * The dead letters behind an {@link OperationQueue}, with the operations on one id in the order of their
 * calls: a late write cannot bring a dead letter back after its removal.
 */
export class LetterOperations {
  readonly #deadLetters: DeadLetters;
  readonly #settings: LetterOperationsSettings;
  readonly #queue: OperationQueue;
  readonly #last = new Map<string, PendingOperation>();

  constructor(deadLetters: DeadLetters, settings: LetterOperationsSettings) {
    this.#deadLetters = deadLetters;
    this.#settings = settings;
    this.#queue = new OperationQueue(settings.limitMs);
  }

  find(id: string, wait: OperationWait): Promise<DeadLetter | undefined> {
    return this.#inOrder(id, wait, async () => checkFound(await this.#deadLetters.get(id)));
  }

  /** The id of the dead letter of an event: its key. Undefined for an event without an id. */
  idOf(event: EventMembers): string | undefined {
    return keyOfMembers(this.#settings.provider, event);
  }

  /**
   * Stores a dead letter and returns its id: the key of the event. An event without an id has the SHA-256 of
   * the body instead.
   */
  async store(
    { rawBody, headers, receivedAt, event, parkedAt }: LetterContent,
    { attempts, handled, runningUntil }: AttemptInfo,
    reason: LetterReason,
    wait: OperationWait,
  ): Promise<string> {
    const { account, type } = event;
    const { provider } = this.#settings;
    const id = provider.keyOf({ id: event.id ?? idOfBody(rawBody), account });
    await this.#inOrder(id, wait, async () => {
      // An earlier dead letter may be the only record of the handlers that have succeeded.
      const earlier = await this.#readEarlier(id);
      const stored: unknown = await this.#deadLetters.put({
        id,
        ...senderOf(event, provider),
        type,
        reason: reason.code,
        message: reason.message,
        rawBody,
        headers: withoutCredentials(headers),
        receivedAt,
        ...timesOf(earlier ?? { parkedAt }, this.#settings.now()),
        attempts: Math.max(attempts, earlier?.attempts ?? 0),
        handled: [...new Set([...(earlier?.handled ?? []), ...handled])],
        runningUntil,
      });
      checkBegun(stored, 'put()');
    });
    return id;
  }

  async #readEarlier(id: string): Promise<DeadLetter | undefined> {
    try {
      return checkFound(await this.#deadLetters.get(id));
    } catch {
      return undefined;
    }
  }

  remove(id: string, wait: OperationWait): Promise<boolean> {
    return this.#inOrder(id, wait, () => this.#deadLetters.remove(id));
  }

  /** True if an operation on an id has not ended, for example one that was given up as late. */
  isPending(id: string): boolean {
    return this.#last.has(id);
  }

  /** Resolves once no operation on an id is pending. */
  async ended(id: string): Promise<void> {
    for (let last = this.#last.get(id); last !== undefined; last = this.#last.get(id)) await last.ended;
  }

  async #inOrder<T>(id: string, wait: OperationWait, operation: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(id);
    let hasBegun = false;
    let settle = (): void => {};
    const ended = new Promise<void>((resolve) => {
      settle = resolve;
    });
    // An operation cannot go before an earlier one on its id, so it is not more urgent than the earlier one.
    const isUrgent = wait.isUrgent && previous?.isUrgent !== false;
    const pending: PendingOperation = { ended, isUrgent, isLate: false };
    this.#last.set(id, pending);
    const end = (): void => {
      settle();
      if (this.#last.get(id) === pending) this.#last.delete(id);
    };
    const afterPrevious = async (): Promise<T> => {
      hasBegun = true;
      await previous?.ended;
      try {
        return await this.#onceConnected(operation, wait.bodyBytes);
      } finally {
        end();
      }
    };
    try {
      if (previous?.isLate) return await this.#besideQueue(afterPrevious, wait.answerBy);
      return await this.#queue.run(afterPrevious, { ...wait, isUrgent });
    } catch (cause) {
      pending.isLate = hasBegun;
      if (!hasBegun && previous === undefined) end();
      else if (!hasBegun) void previous?.ended.then(end);
      throw deadLetterError(cause);
    }
  }

  /** Runs an operation if there is memory for the body while the dead letters wait for their connection. */
  async #onceConnected<T>(operation: () => Promise<T>, bodyBytes: number): Promise<T> {
    if (!mustWait(this.#deadLetters)) return operation();
    const { mayWait, bodyMemory } = this.#settings;
    if (!mayWait || !bodyMemory.reserve(bodyBytes)) throw new Error('they are not connected');
    try {
      return await operation();
    } finally {
      bodyMemory.giveBack(bodyBytes);
    }
  }

  /**
   * Runs an operation without a permit, once a late one on the same id has ended. It runs even if its caller
   * has given up, because a dead letter that is written late must be removed.
   */
  #besideQueue<T>(operation: () => Promise<T>, answerBy: number): Promise<T> {
    const limitMs = Math.max(0, Math.min(this.#settings.limitMs, answerBy - performance.now()));
    return withTimeLimit(operation(), limitMs, () => new Error(`no answer in ${Math.round(limitMs)} ms`));
  }
}

/**
 * Returns the times of a dead letter that is stored now. An earlier one tells when its event was first
 * parked.
 */
function timesOf(
  earlier: Pick<Partial<DeadLetter>, 'parkedAt'> | undefined,
  now: number,
): Pick<DeadLetter, 'parkedAt' | 'lastTriedAt'> {
  const { parkedAt } = earlier ?? {};
  return parkedAt === undefined ? { parkedAt: now } : { parkedAt, lastTriedAt: now };
}

function deadLetterError(cause: unknown): DeadLetterError {
  if (isInstance(cause, DeadLetterError)) return cause;
  const message = `the dead letters failed: ${messageOf(cause)}`;
  return new DeadLetterError('dead_letters_unavailable', message, { cause });
}

/** Dead letters of the application may return null, or a value that is not a dead letter. */
function checkFound(letter: DeadLetter | null | undefined): DeadLetter | undefined {
  if (letter === undefined || letter === null) return undefined;
  if (typeof letter === 'object' && Array.isArray(letter.handled)) return letter;
  throw new DeadLetterError(
    'dead_letter_unreadable',
    `the dead letters returned ${show(letter)}, which is not a letter`,
  );
}
