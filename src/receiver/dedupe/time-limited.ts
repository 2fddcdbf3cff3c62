import { UnavailableError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { isTrue, mustWait } from '../timing/must-wait.ts';
import { performance } from '../timing/process-clock.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { isInstance, messageOf, propertyOf, show } from '../values/foreign-values.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  PeekRequest,
  PeekResult,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './store.ts';

const always = (): boolean => true;

/**
 * The turns of the event loop without an answer after which a store counts as stopped. In a burst a turn may
 * take half a second, and a new connection to the store several turns.
 */
const MOST_SILENT_TURNS = 10;
const ONE_TURN_MS = 1;

/** See {@link withOwnLimits}. */
const limitedByThemselves = new WeakSet<Store>();

/**
 * Notes that each operation of a store of ours ends within `commandTimeoutMs`, with an answer or an
 * {@link UnavailableError}. A second limit around it takes 5 % of a delivery's processor time with Redis
 * (bench/compare, a build without this). Returns the store. A copy of it has the usual limit.
 */
export function withOwnLimits(store: Store): Store {
  limitedByThemselves.add(store);
  return store;
}

/**
 * A store whose operations all end in time: those that return a promise have a time limit. A failure is an
 * {@link UnavailableError}.
 */
export class TimeLimitedStore implements Store {
  readonly commandTimeoutMs: number;
  readonly queuesClaims: boolean;
  readonly refusesLateClaims: boolean;
  readonly #store: Store;
  readonly #mayWait: boolean;
  readonly #hasOwnLimits: boolean;
  /** The number of answers. Releases do not count, because one may be answered without the server. */
  #answers = 0;

  /** Without `mayWait`, an operation that cannot be sent at once fails at once. */
  constructor(store: Store, { mayWait = true }: { readonly mayWait?: boolean } = {}) {
    this.commandTimeoutMs = store.commandTimeoutMs ?? 2_000;
    this.queuesClaims = store.queuesClaims === true;
    this.refusesLateClaims = store.refusesLateClaims === true;
    this.#store = store;
    this.#mayWait = mayWait;
    this.#hasOwnLimits = limitedByThemselves.has(store);
  }

  /**
   * In a burst a claim may wait for its turn for longer than `commandTimeoutMs`, until its `waitMs` is over.
   * The claim waits longer only while the store answers others, or works for other processes: a store that
   * has stopped would keep every delivery waiting in vain. Each further `commandTimeoutMs`, `mayWaitLonger`
   * is called: it returns true if the delivery may go on waiting with its body.
   */
  claim(request: ClaimRequest, mayWaitLonger: () => boolean = always): Awaitable<ClaimResult> {
    const limited = this.#limitWait(request);
    const { waitMs = 0 } = limited;
    const limitMs = this.commandTimeoutMs;
    const send = () => this.#store.claim(limited);
    if (!this.queuesClaims || waitMs <= limitMs) return this.#limit('claim', send);
    const endsAt = performance.now() + limitMs + waitMs;
    /** The answers of the store when it was last seen at work, and the turns of silence since then. */
    let seenAnswers = this.#answers;
    let silentTurns = 0;
    const goOnOrFail = (): number | Error => {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0 || this.mustWait()) return this.#late('claim');
      const isAtWork = this.#answers !== seenAnswers || isTrue(() => this.#store.isAtWork?.());
      if (!isAtWork) {
        silentTurns += 1;
        return silentTurns <= MOST_SILENT_TURNS ? ONE_TURN_MS : this.#late('claim');
      }
      seenAnswers = this.#answers;
      silentTurns = 0;
      return mayWaitLonger() ? Math.min(limitMs, leftMs) : this.#late('claim');
    };
    return this.#limit('claim', send, goOnOrFail);
  }

  renew(request: LeaseRequest): Awaitable<RenewResult> {
    return this.#limit('renew', () => this.#store.renew(this.#limitWait(request)));
  }

  complete(request: CompleteRequest): Awaitable<CompleteResult> {
    return this.#limit('complete', () => this.#store.complete(this.#limitWait(request)));
  }

  release(request: ReleaseRequest): Awaitable<ReleaseResult> {
    return this.#limit('release', () => this.#store.release(this.#limitWait(request)));
  }

  /** Resolves with undefined if the store has no `peek`. */
  lookUp(request: PeekRequest): Awaitable<PeekResult | undefined> {
    const peek = this.#store.peek?.bind(this.#store);
    return peek === undefined ? undefined : this.#limit('peek', () => peek(this.#limitWait(request)));
  }

  mustWait(): boolean {
    return this.#mayWait && mustWait(this.#store);
  }

  #limitWait<Request extends PeekRequest>(request: Request): Request {
    return this.#mayWait ? request : { ...request, waitMs: 0 };
  }

  /** When the time is over, `goOnOrFail` gives the milliseconds of a further wait, or the error. */
  #limit<Result>(
    name: string,
    operation: () => Awaitable<Result>,
    goOnOrFail: () => number | Error = () => this.#late(name),
  ): Awaitable<Result> {
    if (this.#hasOwnLimits) return operation();
    try {
      const result = operation();
      if (!isPending(result)) return this.#noteAnswer(name, result);
      const answered = Promise.resolve(result).then(
        (answer) => this.#noteAnswer(name, answer),
        (cause: unknown) => {
          throw failure(name, cause);
        },
      );
      return withTimeLimit(answered, this.commandTimeoutMs, goOnOrFail);
    } catch (cause) {
      throw failure(name, cause);
    }
  }

  /**
   * A foreign store may return a value that throws whenever it is read. It is read here first, so that a
   * later reader does not fail instead.
   */
  #noteAnswer<Result>(name: string, result: Result): Result {
    if (typeof propertyOf(result, 'state') !== 'string')
      throw storeError(name, new TypeError(`the store returned ${show(result)}, which has no state`));
    if (name !== 'release') this.#answers += 1;
    return result;
  }

  #late(name: string): UnavailableError {
    return storeError(name, new Error(`no answer in ${this.commandTimeoutMs} ms`));
  }
}

function isPending<T>(result: Awaitable<T>): result is Promise<T> {
  return typeof propertyOf(result, 'then') === 'function';
}

/** A store with a time limit of its own makes its own errors. */
function failure(name: string, cause: unknown): UnavailableError {
  const isOwn = isInstance(cause, UnavailableError) && cause.code === 'store_unavailable';
  return isOwn ? cause : storeError(name, cause);
}

/** The error of a store's operation that failed. */
export function storeError(name: string, cause: unknown): UnavailableError {
  const message = `the store failed to ${name} the event: ${messageOf(cause)}`;
  return new UnavailableError('store_unavailable', message, { cause });
}
